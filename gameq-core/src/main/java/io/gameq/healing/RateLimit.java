package io.gameq.healing;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/** Holds a replay back to so many rows a second. One thread. */
public final class RateLimit {
  private final long rowsPerSecond;
  private final long begunNanos = System.nanoTime();
  private long rows;

  /** A limit; 0 is none. */
  public RateLimit(long rowsPerSecond) {
    this.rowsPerSecond = rowsPerSecond;
  }

  /** So many rows may be written in one go, at most {@code most}: a tenth of a second's. */
  public long burst(long most) {
    return rowsPerSecond == 0 ? most : Math.max(1, Math.min(most, rowsPerSecond / 10));
  }

  /** Returns once these rows may be written. */
  public void take(long more) {
    if (rowsPerSecond == 0) {
      return;
    }
    long dueNanos = (long) (rows * (double) TimeUnit.SECONDS.toNanos(1) / rowsPerSecond);
    rows += more;
    for (long wait; (wait = begunNanos + dueNanos - System.nanoTime()) > 0; ) {
      LockSupport.parkNanos(wait);
    }
  }
}
