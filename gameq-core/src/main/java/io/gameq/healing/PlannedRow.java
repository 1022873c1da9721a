package io.gameq.healing;

import io.gameq.owner.OwnerId;
import io.gameq.rows.RowImage;
import org.jspecify.annotations.Nullable;

/**
 * The newest change of a row, and what became of it.
 *
 * @param change what the WAL has
 * @param mysqlVersion what MySQL holds of the row; null for none
 * @param redisVersion the newest that Redis holds of it; null for none
 * @param contents {@link Contents#NONE} unless the plan is asked for them
 */
public record PlannedRow(
    WalRow change,
    @Nullable Long mysqlVersion,
    @Nullable Long redisVersion,
    Contents contents,
    Judgement judgement) {
  /**
   * What became of a row.
   *
   * @param reason empty unless the status needs one
   * @param restoresSession whether MySQL lost the session, and replay restores it
   * @param isReplayed whether replay writes it: it is lost, or it is in Redis and readers do not
   *     find it there, since MySQL or Redis lost its session
   */
  public record Judgement(
      Status status, String reason, boolean restoresSession, boolean isReplayed) {
    static Judgement of(Status status) {
      return of(status, "");
    }

    static Judgement of(Status status, String reason) {
      return new Judgement(status, reason, false, false);
    }
  }

  /**
   * The decoded values of a row in each place; null where it is not, or cannot be decoded.
   *
   * @param redis the newest that Redis holds
   * @param wal the planned change: what the row is after a replay
   */
  public record Contents(
      @Nullable RowImage mysql, @Nullable RowImage redis, @Nullable RowImage wal) {
    static final Contents NONE = new Contents(null, null, null);
  }

  public OwnerId owner() {
    return change.owner();
  }

  public Status status() {
    return judgement.status();
  }

  public String reason() {
    return judgement.reason();
  }

  /** The row, as a conflict for this reason. */
  PlannedRow inConflict(String reason) {
    return new PlannedRow(
        change, mysqlVersion, redisVersion, contents, Judgement.of(Status.CONFLICT, reason));
  }
}
