package io.gameq.agent;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/** Holds work back to so many rows, or keys, a second. One thread. */
public final class RateLimit {
  private final long perSecond;
  private final long begunNanos = System.nanoTime();
  private long taken;

  /** A limit; 0 is none. */
  public RateLimit(long perSecond) {
    this.perSecond = perSecond;
  }

  /** So many may be taken in one go, at most {@code most}: a tenth of a second's. */
  public long burst(long most) {
    return perSecond == 0 ? most : Math.max(1, Math.min(most, perSecond / 10));
  }

  /** Returns once these may be taken. */
  public void take(long more) {
    if (perSecond == 0) {
      return;
    }
    long dueNanos = (long) (taken * (double) TimeUnit.SECONDS.toNanos(1) / perSecond);
    taken += more;
    for (long wait; (wait = begunNanos + dueNanos - System.nanoTime()) > 0; ) {
      LockSupport.parkNanos(wait);
    }
  }
}
