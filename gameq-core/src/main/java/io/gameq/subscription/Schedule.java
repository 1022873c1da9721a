package io.gameq.subscription;

import com.cronutils.model.CronType;
import com.cronutils.model.definition.CronDefinitionBuilder;
import com.cronutils.model.time.ExecutionTime;
import com.cronutils.parser.CronParser;
import io.gameq.GameQueueException;
import io.gameq.message.MessageChange.MessageValue;
import io.gameq.redis.topic.ConsumerScripts.TakenMessage;
import io.gameq.topic.Publish;
import io.gameq.topic.Publish.Missed;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
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
          "a message that recurs by cron has at most %s occurrences: %s"
              .formatted(MOST_CRON_COUNT, of.count()));
    }
    return Cron.of(of.cron(), of.zone());
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
            Cron.of(words[4], ZoneId.of(words[3])),
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
    if (rhythm instanceof Cron cron) {
      return "cron %s %s %s %s".formatted(untilMillis, missed, cron.zone(), cron.fields());
    }
    return "every %s %s %s".formatted(((Interval) rhythm).millis(), untilMillis, missed);
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

  /** When something recurs, without an end. Immutable; times in ms since 1970. */
  sealed interface Rhythm {
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
     * Whether it occurs at a time: {@code take.lua} has one by cron be due at once, when Redis'
     * clock went back, and does not know the next occurrence.
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

  /** Every so many milliseconds. Immutable. */
  record Interval(long millis) implements Rhythm {
    /** Counted from the time that was asked for, but not before now. */
    @Override
    public long first(long from, long now) {
      if (from < 0) {
        return now + millis;
      }
      return from >= now ? from : from + (now - from + millis - 1) / millis * millis;
    }

    @Override
    public long after(long occurrence, long time) {
      return occurrence + ((time - occurrence) / millis + 1) * millis;
    }

    /** Any time may be the first. */
    @Override
    public boolean occursAt(long time) {
      return true;
    }

    @Override
    public long number(int number, long first) {
      return first + (number - 1) * millis;
    }
  }

  /** As crontab says: minute, hour, day of month, month, day of week, in a zone. */
  record Cron(String fields, ZoneId zone, ExecutionTime times) implements Rhythm {
    /** Parsed once: each occurrence of a message brings its expression again. */
    private static final Map<String, Cron> PARSED = new ConcurrentHashMap<>();

    /** Then all are parsed anew: few games have as many. */
    private static final int MOST_PARSED = 1_000;

    /** Throws GameQueueException when the fields are malformed. */
    static Cron of(String fields, ZoneId zone) {
      String key = zone + " " + fields;
      Cron known = PARSED.get(key);
      if (known == null) {
        known = new Cron(fields, zone, times(fields));
        if (PARSED.size() >= MOST_PARSED) {
          PARSED.clear();
        }
        PARSED.put(key, known);
      }
      return known;
    }

    private static ExecutionTime times(String fields) {
      try {
        return ExecutionTime.forCron(
            new CronParser(CronDefinitionBuilder.instanceDefinitionFor(CronType.UNIX))
                .parse(fields)
                .validate());
      } catch (IllegalArgumentException e) {
        throw new GameQueueException(
            "not a cron expression of minute, hour, day of month, month, day of week: '%s': %s"
                .formatted(fields, e.getMessage()),
            e);
      }
    }

    @Override
    public long first(long from, long now) {
      long time = Math.max(from, now) - 1; // that time itself may be one
      return after(time, time);
    }

    @Override
    public long after(long occurrence, long time) {
      return times
          .nextExecution(Instant.ofEpochMilli(time).atZone(zone))
          .map(next -> next.toInstant().toEpochMilli())
          .orElse(0L);
    }

    @Override
    public boolean occursAt(long time) {
      return after(time - 1, time - 1) == time;
    }
  }
}
