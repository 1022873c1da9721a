package io.gameq.healing;

import io.gameq.GameQueueException;
import io.gameq.owner.OwnerId;
import io.gameq.owner.SessionId;
import io.gameq.rows.EncodedRow;
import io.gameq.rows.RowHeader;
import io.gameq.rows.RowOp;
import org.jspecify.annotations.Nullable;

/**
 * The newest change of a row, as a WAL holds it.
 *
 * @param session the session that wrote it last
 * @param wal the number of the WAL
 * @param sequence of its record in the WAL
 */
public record WalRow(
    OwnerId owner, SessionId session, EncodedRow encoded, long version, int wal, long sequence) {
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
