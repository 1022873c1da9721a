package io.gameq.recovery.plan;

import io.gameq.terminal.Shown;
import java.util.Collection;
import java.util.HashMap;
import java.util.Map;

/**
 * Rows that were sent stand or fall with the changes that they were committed with: a mail is not
 * replayed whose price is not. One thread.
 */
final class SentRowsJudge {
  private final Map<Commit, PlannedRow> conflicts = new HashMap<>();

  private record Commit(int wal, long sequence) {
    static Commit of(PlannedRow row) {
      return new Commit(row.change().wal(), row.change().sequence());
    }
  }

  /**
   * A judge.
   *
   * @param sentWith all changes of the commits in which rows were sent, but those rows; also those
   *     that a later change of the row has overtaken since
   */
  SentRowsJudge(Collection<PlannedRow> sentWith) {
    for (PlannedRow row : sentWith) {
      if (row.status().isConflict()) {
        conflicts.putIfAbsent(Commit.of(row), row);
      }
    }
  }

  /** The row, as a conflict when it was sent together with one and would else be replayed. */
  PlannedRow judge(PlannedRow row) {
    boolean isMissing = row.status() == Status.LOST || row.status() == Status.LIVE;
    PlannedRow conflict = conflicts.get(Commit.of(row));
    if (!row.owner().isInbox() || !isMissing || conflict == null) {
      return row;
    }
    String reason =
        "sent together with %s %s, a conflict: %s"
            .formatted(
                Shown.text(conflict.change().key()),
                Shown.whose(conflict.owner()),
                conflict.judgement().reason());
    return new PlannedRow(row.change(), row.present(), Judgement.of(Status.CONFLICT, reason));
  }
}
