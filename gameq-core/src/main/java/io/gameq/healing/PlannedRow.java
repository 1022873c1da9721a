package io.gameq.healing;

import io.gameq.GameQueueException;
import io.gameq.owner.OwnerId;
import io.gameq.owner.SessionId;
import io.gameq.rows.EncodedRow;
import io.gameq.rows.RowHeader;
import io.gameq.rows.RowHeader.RowOp;
import io.gameq.rows.RowImage;
import io.gameq.wal.WalRecord;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The newest change of a row, and what became of it.
 *
 * @param change what the WAL has
 * @param mysqlVersion what MySQL holds of the row; null for none
 * @param redisVersion the newest that Redis holds of it; null for none
 * @param mysql the decoded row in MySQL; null where it is not, cannot be decoded, or is not asked
 *     for; so are the next two
 * @param redis the newest that Redis holds
 * @param wal what the row is after a replay
 * @param reason empty unless the status needs one
 * @param restoresSession whether MySQL lost the session, and replay restores it
 * @param isReplayed whether replay writes it: it is lost, or it is in Redis and readers do not find
 *     it there, since MySQL or Redis lost its session
 */
public record PlannedRow(
    WalRow change,
    @Nullable Long mysqlVersion,
    @Nullable Long redisVersion,
    @Nullable RowImage mysql,
    @Nullable RowImage redis,
    @Nullable RowImage wal,
    Status status,
    String reason,
    boolean restoresSession,
    boolean isReplayed) {
  public OwnerId owner() {
    return change.owner();
  }

  /** The row with another status, for this reason; it is not replayed. */
  PlannedRow as(Status other, String why) {
    return as(other, why, false, false);
  }

  PlannedRow as(Status other, String why, boolean restores, boolean replays) {
    return new PlannedRow(
        change, mysqlVersion, redisVersion, mysql, redis, wal, other, why, restores, replays);
  }

  /** What became of the newest change of a row. */
  public enum Status {
    /** MySQL holds it, or a newer version of the row, or a newer delete. */
    IN_MYSQL("in MySQL", false),
    /** Redis holds it, or a newer version, where writers will flush it. */
    IN_REDIS("in Redis, to be flushed by writers", false),
    /** MySQL refused it, or a newer version. */
    DEAD_LETTER("dead letters: MySQL refused them, see 'gameq-writer dead list'", true),
    /** An operator gave it up, or a newer version, by 'dead discard' or 'stale discard'. */
    DISCARDED("discarded by 'dead discard' or 'stale discard'", false),
    /** Nobody holds it, and its session still owns: replay puts it back. */
    LOST("LOST: replay puts them back", true),
    /** Nobody holds it yet, but its node is alive, which puts it back by itself. */
    LIVE("missing, of nodes that are ALIVE and heal themselves", true),
    /** Nobody holds it, and a later session opened the owner without it. */
    CONFLICT("CONFLICTS: a later session opened the owner without them", true),
    /** Redis holds it under a session that lost its owner: it is never flushed. */
    PARKED("parked in Redis under a session that lost its owner", true),
    /**
     * Deletes from before the tombstone horizon are forgotten: it could bring a deleted row back.
     */
    TOO_OLD("REFUSED: older than the deletes that MySQL remembers", true),
    /** Its table is not managed any more, or its columns do not fit. */
    UNREADABLE("not readable: table or columns have changed", true),
    /** The same version is there with other columns: only verify looks. */
    OTHER_CONTENT("DIFFERENT: the same version with other values", true);

    private final String text;
    private final boolean calls;

    Status(String text, boolean calls) {
      this.text = text;
      this.calls = calls;
    }

    /** For a summary, after a number. */
    public String text() {
      return text;
    }

    /** Whether somebody has to act, or to wait and look again. */
    public boolean callsForAction() {
      return calls;
    }

    /** Whether MySQL has it, or has it set aside, or an operator gave it up: no WAL is needed. */
    boolean isSettled() {
      return this == IN_MYSQL || this == DEAD_LETTER || this == DISCARDED;
    }

    /** Whether {@code replay --conflicts apply} writes it. */
    public boolean isConflict() {
      return this == CONFLICT || this == PARKED;
    }
  }

  /**
   * The newest change of a row, as a WAL holds it.
   *
   * @param session the session that wrote it last
   * @param wal the number of the WAL
   * @param sequence of its record in the WAL
   * @param together all parts of its commit, their images cut to the version; none where it is the
   *     only one
   */
  public record WalRow(
      OwnerId owner,
      SessionId session,
      EncodedRow encoded,
      long version,
      int wal,
      long sequence,
      List<WalRecord.Part> together) {
    /** The version of an encoded row, 0 when it is too damaged to tell. */
    public static long version(byte[] image) {
      try {
        return RowHeader.version(image);
      } catch (GameQueueException e) {
        return 0;
      }
    }

    public String key() {
      return encoded.key();
    }

    byte[] image() {
      return encoded.image();
    }

    /** Whether a version, null for none, is this one or a newer one. */
    boolean isCoveredBy(@Nullable Long other) {
      return other != null && Long.compareUnsigned(other, version) >= 0;
    }

    /** A put when the row is too damaged to tell. */
    public RowOp op() {
      try {
        return encoded.op();
      } catch (GameQueueException e) {
        return RowOp.PUT;
      }
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
}
