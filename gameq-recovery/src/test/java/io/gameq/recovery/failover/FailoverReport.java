package io.gameq.recovery.failover;

import io.gameq.writer.campaign.ReportTable;
import io.gameq.writer.campaign.ReportTable.Column;
import io.gameq.writer.campaign.Violation.Kind;
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
                new Column("drained in s", "drainSeconds")));
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
          r.drainSeconds());
    }
    return table;
  }
}
