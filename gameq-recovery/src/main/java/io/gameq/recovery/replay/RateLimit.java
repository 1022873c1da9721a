package io.gameq.recovery.replay;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/** Holds a replay back to so many rows a second. One thread. */
final class RateLimit {
  private final long rowsPerSecond;
  private final long begunNanos = System.nanoTime();
  private long rows;

  /** A limit; 0 is none. */
  RateLimit(long rowsPerSecond) {
    this.rowsPerSecond = rowsPerSecond;
  }

  /** Returns once these rows may be written. */
  void take(long more) {
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
