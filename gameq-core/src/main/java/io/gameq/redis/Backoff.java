package io.gameq.redis;

import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;

/**
 * Waiting times that double up to a limit, with jitter so that many waiters do not return together.
 * Not thread-safe.
 */
public final class Backoff {
  private final long firstMillis;
  private final long mostMillis;
  private long nextMillis;

  public Backoff(long firstMillis, long mostMillis) {
    this.firstMillis = firstMillis;
    this.mostMillis = mostMillis;
    this.nextMillis = firstMillis;
  }

  /** The next wait, between half and all of the current step. */
  public long nextMillisWithJitter() {
    long wait = nextMillis / 2 + ThreadLocalRandom.current().nextLong(nextMillis / 2 + 1);
    nextMillis = Math.min(mostMillis, nextMillis * 2);
    return wait;
  }

  public long nextNanos() {
    return TimeUnit.MILLISECONDS.toNanos(nextMillisWithJitter());
  }

  public void reset() {
    nextMillis = firstMillis;
  }
}
