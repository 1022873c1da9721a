package io.gameq.writer.campaign;

import io.gameq.writer.campaign.ReportTable.Column;
import io.gameq.writer.campaign.Violation.Kind;
import io.gameq.writer.campaign.messages.MessageViolation;
import java.util.List;

/** The campaign's table. Stateless. */
final class CampaignReport {
  private CampaignReport() {}

  static ReportTable of(List<CaseResult> results) {
    ReportTable table =
        new ReportTable(
            List.of(
                new Column("fault", "fault"),
                new Column("seed", "seed"),
                new Column("times injected", "times"),
                new Column("acknowledged changes", "acknowledged"),
                new Column("reads checked", "reads"),
                new Column("lost", "lost"),
                new Column("stale", "stale"),
                new Column("resurrected", "resurrected"),
                new Column("reset", "reset"),
                new Column("drained in s", "drainSeconds"),
                new Column("rows sent", "sent"),
                new Column("told", "told"),
                new Column("told again", "toldAgain"),
                new Column("untold", "untold"),
                new Column("messages published", "published"),
                new Column("handled", "handled"),
                new Column("handled again", "handledAgain"),
                new Column("dead letters", "deadLetters"),
                new Column("messages lost", "messagesLost"),
                new Column("order violations", "orderViolations"),
                new Column("other violations of messages", "otherMessageViolations")));
    for (CaseResult r : results) {
      table.add(
          r.fault(),
          r.seed(),
          r.times(),
          r.acknowledged(),
          r.reads(),
          r.count(Kind.LOST),
          r.count(Kind.STALE),
          r.count(Kind.RESURRECTED),
          r.count(Kind.RESET),
          r.drainSeconds(),
          r.sent().sent(),
          r.sent().told(),
          r.sent().twice(),
          r.sent().untold().size(),
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
