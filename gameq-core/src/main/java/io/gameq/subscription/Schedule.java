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
 * When a recurring message occurs, as it stands in its value. Immutable; times in ms since 1970.
 *
 * <pre>
 * every 60000 1800000000000 ONCE                       ms, last occurrence in ms or 0, policy
 * cron 0 SKIP Europe/Berlin 0 4 * * MON                last, policy, zone, fields
 * </pre>
 *
 * @param everyMillis of an interval; 0 where {@code cron} says
 * @param cron null of an interval
 * @param untilMillis no occurrence is later; 0 for no end
 */
public record Schedule(long everyMillis, @Nullable Cron cron, long untilMillis, Missed missed) {
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
    Schedule endless = endless(of);
    long first = endless.first(from, nowMillis);
    long until = of.until() == null ? 0 : of.until().toEpochMilli();
    if (of.count() > 0) {
      long last = endless.number(of.count(), first);
      until = until == 0 ? last : Math.min(until, last);
    }
    if (first == 0 || (until != 0 && first > until)) {
      throw new GameQueueException(
          "a recurring message has no occurrence: its first one would be %s, and it ends %s"
              .formatted(
                  first == 0 ? "never" : Instant.ofEpochMilli(first),
                  until == 0 ? "never" : Instant.ofEpochMilli(until)));
    }
    return new Begun(new Schedule(endless.everyMillis, endless.cron, until, of.missed()), first);
  }

  private static Schedule endless(Publish.Recurrence of) {
    if (of.every() != null) {
      return new Schedule(of.every().toMillis(), null, 0, of.missed());
    }
    if (of.cron() == null || of.zone() == null) {
      throw new GameQueueException("a recurring message has an interval, or cron and a zone");
    }
    if (of.count() > MOST_CRON_COUNT) {
      throw new GameQueueException(
          "a message that recurs by cron has at most %s occurrences: %s"
              .formatted(MOST_CRON_COUNT, of.count()));
    }
    return new Schedule(0, Cron.of(of.cron(), of.zone()), 0, of.missed());
  }

  /** Reads what {@link #text} wrote. Throws GameQueueException when it is none. */
  static Schedule parse(String text) {
    try {
      String[] words = text.split(" ", 5);
      return switch (words[0]) {
        case "every" ->
            new Schedule(
                Long.parseLong(words[1]), null, Long.parseLong(words[2]), Missed.valueOf(words[3]));
        case "cron" ->
            new Schedule(
                0,
                Cron.of(words[4], ZoneId.of(words[3])),
                Long.parseLong(words[1]),
                Missed.valueOf(words[2]));
        default -> throw new IllegalArgumentException("of an unknown kind");
      };
    } catch (RuntimeException e) { // whatever a damaged text leads to
      throw new GameQueueException("a message's schedule cannot be read: " + e.getMessage(), e);
    }
  }

  /** How a message recurs; null when it does not. Throws GameQueueException when it is damaged. */
  static @Nullable Schedule of(MessageValue.Decoded value) {
    return value.schedule().isEmpty() ? null : parse(value.schedule());
  }

  /**
   * When a message that was taken, and is not handled, is due again, ms; 0 when it does not recur
   * any more. A schedule that cannot be read has ended.
   */
  public static long nextDue(TakenMessage taken, Duration lease) {
    try {
      MessageValue.Decoded value = MessageValue.decode(taken.value());
      Schedule schedule = of(value);
      return schedule == null
          ? 0
          : schedule.next(value.sinceMillis(), taken.takenMillis(), lease.toMillis());
    } catch (GameQueueException e) {
      return 0;
    }
  }

  /** As it stands in the value of a message. */
  String text() {
    return cron == null
        ? "every %s %s %s".formatted(everyMillis, untilMillis, missed)
        : "cron %s %s %s %s".formatted(untilMillis, missed, cron.zone, cron.fields);
  }

  /**
   * Whether what was taken is not to be run: an occurrence that was missed, or none at all. {@code
   * take.lua} has one by cron be due at once when Redis' clock went back, and does not know the
   * next occurrence.
   *
   * @param leaseMillis by which it may be late
   */
  boolean leavesOut(long occurrence, long takenMillis, long leaseMillis) {
    return (missed == Missed.SKIP && takenMillis - occurrence > leaseMillis)
        || (cron != null && cron.after(occurrence - 1) != occurrence);
  }

  /**
   * The occurrence after the one that was taken, ms; 0 when there is none.
   *
   * @param occurrence its time
   * @param takenMillis when its handler got it, by the clock of Redis
   */
  long next(long occurrence, long takenMillis, long leaseMillis) {
    long latest =
        switch (missed) {
          case ALL -> occurrence;
          case ONCE -> takenMillis;
          case SKIP -> takenMillis - leaseMillis - 1;
        };
    long next = after(occurrence, Math.max(occurrence, latest));
    return untilMillis != 0 && next > untilMillis ? 0 : next;
  }

  /** The first occurrence: an interval counts from the time that was asked for, but not before. */
  private long first(long from, long now) {
    if (cron != null) {
      return cron.after(Math.max(from, now) - 1); // that time itself may be one
    }
    return from >= now ? from : from < 0 ? now + everyMillis : after(from, now - 1);
  }

  /** The first occurrence after a time, which is not before {@code occurrence}; 0 for none. */
  private long after(long occurrence, long time) {
    return cron != null
        ? cron.after(time)
        : occurrence + ((time - occurrence) / everyMillis + 1) * everyMillis;
  }

  /** The occurrence of a number, 1 being the first. */
  private long number(int number, long first) {
    if (cron == null) {
      return first + (number - 1) * everyMillis;
    }
    long at = first;
    for (int i = 1; i < number && at != 0; i++) {
      at = cron.after(at);
    }
    return at;
  }

  /** As crontab says: minute, hour, day of month, month, day of week, in a zone. */
  record Cron(String fields, ZoneId zone, ExecutionTime times) {
    /** Parsed once: each occurrence of a message brings its expression again. */
    private static final Map<String, Cron> PARSED = new ConcurrentHashMap<>();

    /** Then all are parsed anew: few games have as many. */
    private static final int MOST_PARSED = 1_000;

    /** Throws GameQueueException when the fields are malformed. */
    static Cron of(String fields, ZoneId zone) {
      if (PARSED.size() > MOST_PARSED) {
        PARSED.clear();
      }
      return PARSED.computeIfAbsent(
          zone + " " + fields, unknown -> new Cron(fields, zone, times(fields)));
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

    /** The first occurrence after a time; 0 when there is none. */
    long after(long time) {
      return times
          .nextExecution(Instant.ofEpochMilli(time).atZone(zone))
          .map(next -> next.toInstant().toEpochMilli())
          .orElse(0L);
    }
  }
}
