package io.gameq.topic;

import io.gameq.GameQueueException;
import io.gameq.Publish;
import io.gameq.Publish.Missed;
import io.gameq.message.MessageValue;
import io.gameq.redis.topic.TakenMessage;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import org.jspecify.annotations.Nullable;

/**
 * When a recurring message occurs, as it stands in its value. Immutable.
 *
 * <pre>
 * every 60000 1800000000000 ONCE                       ms, last occurrence in ms or 0, policy
 * cron 0 SKIP Europe/Berlin 0 4 * * MON                last, policy, zone, fields
 * </pre>
 *
 * @param rhythm when it would occur without an end
 * @param untilMillis no occurrence is later; 0 for no end
 */
record Schedule(Rhythm rhythm, long untilMillis, Missed missed) {
  private static final int MOST_CRON_COUNT = 10_000;

  /** The schedule of a message and its first occurrence. */
  record Begun(Schedule schedule, long firstMillis) {}

  /**
   * Begins a schedule.
   *
   * @param from what the message says of its time, ms; -1 when it says nothing
   * @throws GameQueueException when the cron expression is malformed, or there is no occurrence
   */
  static Begun begin(Publish.Recurrence of, long from, long nowMillis) {
    Rhythm rhythm = rhythm(of);
    long first = rhythm.first(from, nowMillis);
    long until = of.until() == null ? 0 : of.until().toEpochMilli();
    if (of.count() > 0) {
      long last = rhythm.number(of.count(), first);
      until = until == 0 ? last : Math.min(until, last);
    }
    if (first == 0 || (until != 0 && first > until)) {
      throw new GameQueueException(
          "a recurring message has no occurrence: its first one would be %s, and it ends %s"
              .formatted(
                  first == 0 ? "never" : Instant.ofEpochMilli(first),
                  until == 0 ? "never" : Instant.ofEpochMilli(until)));
    }
    return new Begun(new Schedule(rhythm, until, of.missed()), first);
  }

  private static Rhythm rhythm(Publish.Recurrence of) {
    if (of.every() != null) {
      return new Interval(of.every().toMillis());
    }
    if (of.cron() == null || of.zone() == null) {
      throw new GameQueueException("a recurring message has an interval, or cron and a zone");
    }
    if (of.count() > MOST_CRON_COUNT) {
      throw new GameQueueException(
          "a message that recurs by cron has at most %d occurrences: %d"
              .formatted(MOST_CRON_COUNT, of.count()));
    }
    return CronRhythm.of(of.cron(), of.zone());
  }

  /** Reads what {@link #text} wrote. Throws GameQueueException when it is none. */
  static Schedule parse(String text) {
    try {
      String[] words = text.split(" ", 5);
      if (words[0].equals("every")) {
        return new Schedule(
            new Interval(Long.parseLong(words[1])),
            Long.parseLong(words[2]),
            Missed.valueOf(words[3]));
      }
      if (words[0].equals("cron")) {
        return new Schedule(
            CronRhythm.of(words[4], ZoneId.of(words[3])),
            Long.parseLong(words[1]),
            Missed.valueOf(words[2]));
      }
    } catch (RuntimeException e) { // whatever a damaged text leads to
      throw new GameQueueException("a message's schedule cannot be read: " + e.getMessage(), e);
    }
    throw new GameQueueException("a message's schedule is of an unknown kind");
  }

  /** How a message recurs; null when it does not. Throws GameQueueException when it is damaged. */
  static @Nullable Schedule of(MessageValue.Decoded value) {
    return value.schedule().isEmpty() ? null : parse(value.schedule());
  }

  /** When a message that was taken is due again, ms; 0 when it does not recur any more. */
  static long nextDue(
      @Nullable Schedule schedule, MessageValue.Decoded value, TakenMessage taken, Duration lease) {
    return schedule == null
        ? 0
        : schedule.next(value.sinceMillis(), taken.takenMillis(), lease.toMillis());
  }

  /** The same of one that is not handled; a schedule that cannot be read has ended. */
  static long nextDue(TakenMessage taken, Duration lease) {
    try {
      MessageValue.Decoded value = MessageValue.decode(taken.value());
      return nextDue(of(value), value, taken, lease);
    } catch (GameQueueException e) {
      return 0;
    }
  }

  /** As it stands in the value of a message. */
  String text() {
    if (rhythm instanceof CronRhythm cron) {
      return "cron %d %s %s %s".formatted(untilMillis, missed, cron.zone(), cron.fields());
    }
    return "every %d %d %s".formatted(((Interval) rhythm).millis(), untilMillis, missed);
  }

  /**
   * Whether an occurrence is left out, since it was taken too late.
   *
   * @param leaseMillis by which it may be late
   */
  boolean leavesOut(long occurrence, long takenMillis, long leaseMillis) {
    return missed == Missed.SKIP && takenMillis - occurrence > leaseMillis;
  }

  /**
   * The occurrence after the one that was taken, ms; 0 when there is none.
   *
   * @param occurrence its time
   * @param takenMillis when its handler got it, by the clock of Redis
   */
  long next(long occurrence, long takenMillis, long leaseMillis) {
    long next =
        switch (missed) {
          case ALL -> rhythm.after(occurrence, occurrence);
          case ONCE -> rhythm.after(occurrence, Math.max(occurrence, takenMillis));
          case SKIP ->
              rhythm.after(occurrence, Math.max(occurrence, takenMillis - leaseMillis - 1));
        };
    return untilMillis != 0 && next > untilMillis ? 0 : next;
  }
}
