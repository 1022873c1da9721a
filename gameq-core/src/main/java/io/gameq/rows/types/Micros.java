package io.gameq.rows.types;

/**
 * Times as whole microseconds, the finest that MySQL keeps. Stateless.
 *
 * <p>From year 0 to 9999 they fit a long with a factor of thirty to spare.
 */
public final class Micros {
  static final long PER_SECOND = 1_000_000;

  /** Nanoseconds in one unit of the last digit, by the number of fraction digits. */
  private static final int[] UNIT = {
    1_000_000_000, 100_000_000, 10_000_000, 1_000_000, 100_000, 10_000, 1_000
  };

  private Micros() {}

  /** The fraction cut to this many digits. */
  public static int truncate(int nanos, int digits) {
    return nanos - nanos % UNIT[digits];
  }

  static long of(long seconds, int nanos) {
    return seconds * PER_SECOND + nanos / 1_000;
  }

  static long seconds(long micros) {
    return Math.floorDiv(micros, PER_SECOND);
  }

  static int nanos(long micros) {
    return (int) Math.floorMod(micros, PER_SECOND) * 1_000;
  }
}
