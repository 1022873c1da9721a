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

  /** Two clocks that NTP keeps, and a slow answer, are no further apart. */
  private static final long SAME_MILLIS = 10_000;

  private final LongSupplier unixMillis;
  private final LongSupplier hostMillis;
  private final AtomicLong last = new AtomicLong();

  /** A clock by Redis TIME, ms. */
  public VersionClock(LongSupplier unixMillis) {
    this(unixMillis, System::currentTimeMillis);
  }

  /** The same on a host whose own clock says so, ms: a refusal tells whose is wrong. */
  VersionClock(LongSupplier unixMillis, LongSupplier hostMillis) {
    this.unixMillis = unixMillis;
    this.hostMillis = hostMillis;
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
    long now = unixMillis.getAsLong();
    long ahead = millis(version) - now;
    if (ahead > MAX_AHEAD_MILLIS) {
      throw new GameQueueException(
          "a row version is %s s ahead of the Redis server's clock, more than the %s s allowed; %s"
              .formatted(
                  ahead / 1000,
                  MAX_AHEAD_MILLIS / 1000,
                  remedy(ahead, hostMillis.getAsLong() - now)));
    }
    last.accumulateAndGet(version, Math::max);
  }

  /** Which clock is wrong, as far as this host's tells. */
  private static String remedy(long aheadMillis, long hostAheadMillis) {
    if (Math.abs(hostAheadMillis) < SAME_MILLIS) {
      return ("Redis' clock and this host's agree, so Redis' was ahead when the row was changed:"
              + " wait %s s")
          .formatted((aheadMillis - MAX_AHEAD_MILLIS) / 1000 + 1);
    }
    String host =
        "this host's clock is %s s %s Redis'"
            .formatted(
                Math.abs(hostAheadMillis) / 1000, hostAheadMillis > 0 ? "ahead of" : "behind");
    return hostAheadMillis > aheadMillis - MAX_AHEAD_MILLIS
        ? host + ", and not behind the row: Redis' is late, set it by NTP (chrony)"
        : host + ": set the one that is wrong by NTP (chrony)";
  }
}
