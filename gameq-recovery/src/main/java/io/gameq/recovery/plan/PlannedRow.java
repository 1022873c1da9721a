package io.gameq.recovery.plan;

import io.gameq.owner.OwnerId;
import io.gameq.owner.SessionId;
import io.gameq.rows.EncodedRow;
import io.gameq.rows.RowImage;
import io.gameq.rows.RowKey;
import io.gameq.rows.RowOp;
import org.jspecify.annotations.Nullable;

/**
 * The newest change of a row, and what became of it.
 *
 * @param encoded as the WAL has it
 * @param session the session that wrote it last
 * @param rowKey null when the table is not managed
 * @param reason empty unless the status needs one
 * @param restoresSession whether MySQL lost the session
 * @param inMySql the version there, null for none
 * @param inRedis the newest version there, null for none
 */
public record PlannedRow(
    OwnerId owner,
    EncodedRow encoded,
    SessionId session,
    long version,
    RowOp op,
    int wal,
    @Nullable RowKey rowKey,
    Status status,
    String reason,
    boolean restoresSession,
    @Nullable Long inMySql,
    @Nullable Long inRedis,
    @Nullable Held held) {

  /**
   * What is there now, when details are wanted.
   *
   * @param after this change, null when it cannot be decoded
   */
  public record Held(
      @Nullable RowImage mysql, @Nullable RowImage redis, @Nullable RowImage after) {}

  public String key() {
    return encoded.key();
  }

  /** The table, as the row key writes it. */
  public String table() {
    int colon = key().indexOf(':');
    return colon < 0 ? key() : key().substring(0, colon);
  }

  /** The primary key, as the row key writes it. */
  public String keyText() {
    return key().substring(key().indexOf(':') + 1);
  }
}
