package io.gameq.recovery.failover;

import io.gameq.writer.campaign.ReportTable;
import io.gameq.writer.campaign.ReportTable.Column;
import io.gameq.writer.campaign.Violation.Kind;
import io.gameq.writer.campaign.messages.MessageViolation;
import java.util.List;

/** The failover campaign's table. Stateless. */
final class FailoverReport {
  private FailoverReport() {}

  static ReportTable of(List<FailoverResult> results) {
    ReportTable table =
        new ReportTable(
            List.of(
                new Column("failover", "failover"),
                new Column("seed", "seed"),
                new Column("acknowledged changes", "acknowledged"),
                new Column("forgotten by Redis", "forgotten"),
                new Column("of these not in MySQL yet", "endangered"),
                new Column("records replayed by nodes", "replayedByNodes"),
                new Column("rows put back by the tool", "writtenByTool"),
                new Column("conflicts reported", "conflicts"),
                new Column("lost in the end", "lost"),
                new Column("stale", "stale"),
                new Column("resurrected", "resurrected"),
                new Column("first commit after s", "firstCommitSeconds"),
                new Column("healed after s", "healedSeconds"),
                new Column("drained in s", "drainSeconds"),
                new Column("rows sent", "sent"),
                new Column("told", "told"),
                new Column("told again", "toldAgain"),
                new Column("untold after the failover", "untold"),
                new Column("halves of commits reported", "halves"),
                new Column("messages published", "published"),
                new Column("handled", "handled"),
                new Column("handled again", "handledAgain"),
                new Column("dead letters", "deadLetters"),
                new Column("messages lost", "messagesLost"),
                new Column("order violations", "orderViolations"),
                new Column("other violations of messages", "otherMessageViolations")));
    for (FailoverResult r : results) {
      table.add(
          r.failover(),
          r.seed(),
          r.acknowledged(),
          r.losses().forgotten(),
          r.losses().endangered(),
          r.replayedByNodes(),
          r.writtenByTool(),
          r.conflicts(),
          r.count(Kind.LOST),
          r.count(Kind.STALE),
          r.count(Kind.RESURRECTED),
          r.firstCommitSeconds(),
          r.healedSeconds(),
          r.drainSeconds(),
          r.sent().sent(),
          r.sent().told(),
          r.sent().twice(),
          r.sent().untold().size(),
          r.sent().halves(),
          r.messages().published(),
          r.messages().handled(),
          r.messages().twice(),
          r.messages().dead(),
          r.messages().count(MessageViolation.Kind.LOST),
          r.messages().count(MessageViolation.Kind.ORDER),
          r.messages().others());
    }
    return table;
  }
}
