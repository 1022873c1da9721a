package io.gameq.topic;

import java.util.concurrent.TimeUnit;

/**
 * How much a subscription takes on: no more than its rate, and fewer handlers at a time while they
 * fail: a failure takes a third, a success gives a part of one back (AIMD, as TCP does), so that at
 * 10 % failures about five run, at 1 % about 18. Thread-safe.
 */
final class Pace {
  private static final double AFTER_FAILURE = 0.7;

  /** What may be taken at once after a rest, of a second's messages. */
  private static final double BURST_SECONDS = 0.1;

  /** An outage that is over is noticed within this. */
  private static final long MOST_OUTAGE_MILLIS = 30_000;

  private final int most;
  private final double perSecond;
  private double allowed;
  private double tokens;
  private long nanos = System.nanoTime();
  private long outageNanos;
  private boolean isOutage;

  /** With {@code perSecond} 0 for no limit. */
  Pace(int most, double perSecond) {
    this.most = most;
    this.perSecond = perSecond;
    this.allowed = most;
    this.tokens = Math.max(1, perSecond * BURST_SECONDS);
  }

  synchronized void succeeded() {
    isOutage = false;
    allowed = Math.min(most, allowed + 1 / allowed);
  }

  synchronized void failed() {
    allowed = Math.max(1, allowed * AFTER_FAILURE);
  }

  /**
   * A failure that is an outage's: how long its message waits at least, ms. As long as the outage
   * lasts already, so that the waits grow by themselves, but 30 s at most.
   */
  synchronized long outage() {
    failed();
    long now = System.nanoTime();
    if (!isOutage) {
      isOutage = true;
      outageNanos = now;
    }
    return Math.min(MOST_OUTAGE_MILLIS, TimeUnit.NANOSECONDS.toMillis(now - outageNanos));
  }

  /** How many handlers may run at a time. */
  synchronized int handlers() {
    return (int) allowed;
  }

  /** How many messages may be taken now, by the rate. */
  synchronized int messages() {
    if (perSecond == 0) {
      return Integer.MAX_VALUE;
    }
    long now = System.nanoTime();
    tokens =
        Math.min(Math.max(1, perSecond * BURST_SECONDS), tokens + (now - nanos) / 1e9 * perSecond);
    nanos = now;
    return (int) tokens;
  }

  synchronized void took(int messages) {
    if (perSecond != 0) {
      tokens -= messages;
    }
  }

  /** Until the rate allows another message, ns. */
  synchronized long waitNanos() {
    return perSecond == 0 || tokens >= 1
        ? 0
        : (long) ((1 - tokens) / perSecond * TimeUnit.SECONDS.toNanos(1)) + 1;
  }
}
