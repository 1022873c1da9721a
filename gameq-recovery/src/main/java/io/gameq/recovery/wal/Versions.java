package io.gameq.recovery.wal;

import io.gameq.GameQueueException;
import io.gameq.rows.RowHeader;

/** Versions of rows that may be damaged. Stateless. */
public final class Versions {
  private Versions() {}

  /** The version of an encoded row, 0 when it is too damaged to tell. */
  public static long of(byte[] image) {
    try {
      return RowHeader.version(image);
    } catch (GameQueueException e) {
      return 0;
    }
  }

  /** The version that begins a row or a version as Redis answers it, -1 for an empty one. */
  public static long ofText(byte[] row) {
    if (row.length < 16) {
      return -1;
    }
    long version = 0;
    for (int i = 0; i < 16; i++) {
      version = version << 4 | Math.max(0, Character.digit(row[i], 16));
    }
    return version;
  }
}
