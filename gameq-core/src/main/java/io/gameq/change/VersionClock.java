package io.gameq.change;

import io.gameq.GameQueueException;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;

/**
 * The hybrid logical clock of a node: 48 bits of Unix milliseconds, 16 bits of counter.
 * Thread-safe.
 *
 * <p>Every version is larger than all it gave out or observed before, whatever the wall clock does.
 * Its milliseconds are those of Redis TIME, so that nodes whose own clocks differ still agree.
 * (Kulkarni et al., Logical Physical Clocks, 2014.)
 */
public final class VersionClock {
  /**
   * A version this far ahead comes from a broken clock: taking it over would carry the error to
   * every row.
   */
  public static final long MAX_AHEAD_MILLIS = 300_000;

  private static final int COUNTER_BITS = 16;

  private final LongSupplier unixMillis;
  private final AtomicLong last = new AtomicLong();

  public VersionClock(LongSupplier unixMillis) {
    this.unixMillis = unixMillis;
  }

  /** The Unix milliseconds of a version. */
  public static long millis(long version) {
    return version >>> COUNTER_BITS;
  }

  /** The lowest version of a Unix millisecond. */
  public static long first(long unixMillis) {
    return unixMillis << COUNTER_BITS;
  }

  /** The next version; {@code count} consecutive ones are taken and the highest is returned. */
  public long next(int count) {
    long now = unixMillis.getAsLong() << COUNTER_BITS;
    return last.updateAndGet(previous -> Math.max(previous, now) + count);
  }

  /**
   * Makes all later versions larger than this one.
   *
   * @throws GameQueueException when it is further ahead of the clock than {@link
   *     #MAX_AHEAD_MILLIS}; then nothing changed
   */
  public void observe(long version) {
    long ahead = millis(version) - unixMillis.getAsLong();
    if (ahead > MAX_AHEAD_MILLIS) {
      throw new GameQueueException(
          ("a row version is %s s ahead of the Redis server's clock, more than the %s s"
                  + " allowed: check the clocks of Redis and of the nodes (NTP), or wait until it"
                  + " has passed")
              .formatted(ahead / 1000, MAX_AHEAD_MILLIS / 1000));
    }
    last.accumulateAndGet(version, Math::max);
  }
}
