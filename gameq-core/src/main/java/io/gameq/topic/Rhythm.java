package io.gameq.topic;

/** When something recurs, without an end. Immutable; times in ms since 1970. */
sealed interface Rhythm permits Interval, CronRhythm {
  /**
   * The first occurrence.
   *
   * @param from the time that was asked for; -1 for none
   * @return 0 when there is none
   */
  long first(long from, long now);

  /**
   * The first occurrence after a time.
   *
   * @param occurrence any one, not after {@code time}
   * @return 0 when there is none
   */
  long after(long occurrence, long time);

  /**
   * Whether it occurs at a time: {@code take.lua} has one by cron be due at once, when Redis' clock
   * went back, and does not know the next occurrence.
   */
  boolean occursAt(long time);

  /** The occurrence of a number, 1 being the first. */
  default long number(int number, long first) {
    long at = first;
    for (int i = 1; i < number && at != 0; i++) {
      at = after(at, at);
    }
    return at;
  }
}
