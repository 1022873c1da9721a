package io.gameq.topic;

import io.gameq.GameQueueException;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import org.jspecify.annotations.Nullable;

/**
 * A message that is to be published: what, and when it is due. Immutable; each method returns a
 * changed copy.
 *
 * <pre>
 * Publish.of("palace:7", finished).after(Duration.ofHours(8))              timed
 * Publish.of("ranking", dirty).window(Duration.ofSeconds(5))               merged for 5 s
 * Publish.of("save:42", state).after(ofSeconds(2)).cap(ofSeconds(30))      2 s after the last one
 * Publish.of("mail:9", mail).group("player:42").priority(10)               in order, and soon
 * Publish.of("season", end).cron("0 4 * * MON", ZoneId.of("Europe/Berlin"))
 * </pre>
 *
 * @param key of which at most one message is pending
 * @param payload what the handler gets
 * @param group of messages that are handled one after another; null for none
 * @param priority higher first, in topics with priorities; that of the latest publish counts
 * @param timing when it is due
 * @param recurrence null when it is handled once
 */
public record Publish<T>(
    String key,
    T payload,
    @Nullable String group,
    int priority,
    Timing timing,
    @Nullable Recurrence recurrence) {

  /**
   * When a message is due. Immutable.
   *
   * @param at an instant; null when it does not say
   * @param after from now on by the clock of Redis; null when it does not say
   * @param window as {@code after}, but the time of a pending message stays if it is earlier
   * @param cap from the first publish of a pending message; null for no limit
   */
  public record Timing(
      @Nullable Instant at,
      @Nullable Duration after,
      @Nullable Duration window,
      @Nullable Duration cap) {
    static final Timing NOW = new Timing(null, null, null, null);
  }

  /**
   * How a message recurs. Immutable.
   *
   * @param every an interval; null where {@code cron} says
   * @param cron minute, hour, day of month, month, day of week; null where {@code every} says
   * @param zone of {@code cron}
   * @param until no occurrence is later; null for no end
   * @param count of occurrences; 0 for no end
   * @param missed what becomes of occurrences that nobody handled in time
   */
  public record Recurrence(
      @Nullable Duration every,
      @Nullable String cron,
      @Nullable ZoneId zone,
      @Nullable Instant until,
      int count,
      Missed missed) {}

  /** What becomes of occurrences that nobody handled in time, while all consumers were away. */
  public enum Missed {
    /** One run stands for all of them. */
    ONCE,
    /** None is run that is later than the topic's lease; goes on with the next in the future. */
    SKIP,
    /** All are run, one after another. */
    ALL
  }

  private static final Duration LONGEST = Duration.ofDays(100 * 366);

  /** A message that is due at once, or after the topic's window. */
  public static <T> Publish<T> of(String key, T payload) {
    return new Publish<>(key, payload, null, 0, Timing.NOW, null);
  }

  /** In a group, whose messages are handled one after another, by due time. */
  public Publish<T> group(String name) {
    return new Publish<>(key, payload, name, priority, timing, recurrence);
  }

  /**
   * Of an owner, such as {@code player:42}, in a topic {@linkplain TopicOptions#ofOwners of
   * owners}: it is the message's group, so that an owner's messages are handled one after another.
   */
  public Publish<T> owner(String id) {
    return group(id);
  }

  /** With a priority; the topic must have {@link TopicOptions#priorities}, which says its limit. */
  public Publish<T> priority(int higherFirst) {
    return new Publish<>(key, payload, group, higherFirst, timing, recurrence);
  }

  /**
   * Due at an instant, in place of the time of a pending message; in the past for at once. Of a
   * message that recurs at an interval it is where the intervals are counted from.
   */
  public Publish<T> at(Instant due) {
    return when(new Timing(due, null, null, timing.cap));
  }

  /** Due after a delay of up to 100 years, in place of the time of a pending message. */
  public Publish<T> after(Duration delay) {
    check("a delay", delay, Duration.ZERO);
    return when(new Timing(null, delay, null, timing.cap));
  }

  /**
   * Due once a time has passed since the first publish of what is pending: later ones replace the
   * payload and keep the time.
   */
  public Publish<T> window(Duration time) {
    check("a window", time, Duration.ZERO);
    return when(new Timing(null, null, time, timing.cap));
  }

  /** Due at the latest so long after the first publish of what is pending. */
  public Publish<T> cap(Duration longest) {
    check("a cap", longest, Duration.ofMillis(1));
    return when(new Timing(timing.at, timing.after, timing.window, longest));
  }

  private Publish<T> when(Timing changed) {
    return new Publish<>(key, payload, group, priority, changed, recurrence);
  }

  /**
   * Again and again, at an interval of 1 ms at least; for the first time after one interval, unless
   * {@code at} or {@code after} say otherwise.
   */
  public Publish<T> every(Duration interval) {
    check("an interval", interval, Duration.ofMillis(1));
    return recurs(new Recurrence(interval, null, null, null, 0, Missed.ONCE));
  }

  /**
   * Again and again, as crontab says: minute, hour, day of month, month, day of week. A time that
   * the zone leaves out when clocks go forward is left out on that day, and one that it has twice
   * is run the first time.
   *
   * @param fields such as {@code "0 4 * * MON"}; checked when it is published
   */
  public Publish<T> cron(String fields, ZoneId zone) {
    return recurs(new Recurrence(null, fields, zone, null, 0, Missed.ONCE));
  }

  /** Recurs until then. Throws GameQueueException when it does not recur. */
  public Publish<T> until(Instant last) {
    Recurrence of = recurring("until");
    return recurs(new Recurrence(of.every, of.cron, of.zone, last, of.count, of.missed));
  }

  /**
   * Has so many occurrences, those that are missed included: 1 to 10,000 by {@code cron}. Throws
   * GameQueueException when it does not recur.
   */
  public Publish<T> count(int occurrences) {
    if (occurrences < 1) {
      throw new GameQueueException("a message recurs once at least: " + occurrences);
    }
    Recurrence of = recurring("count");
    return recurs(new Recurrence(of.every, of.cron, of.zone, of.until, occurrences, of.missed));
  }

  /** Treats missed occurrences so. Throws GameQueueException when it does not recur. */
  public Publish<T> missed(Missed policy) {
    Recurrence of = recurring("missed");
    return recurs(new Recurrence(of.every, of.cron, of.zone, of.until, of.count, policy));
  }

  private Recurrence recurring(String what) {
    if (recurrence == null) {
      throw new GameQueueException(what + " is for messages that recur: call every or cron first");
    }
    return recurrence;
  }

  private Publish<T> recurs(Recurrence changed) {
    return new Publish<>(key, payload, group, priority, timing, changed);
  }

  private static void check(String what, Duration value, Duration least) {
    if (value.compareTo(least) < 0 || value.compareTo(LONGEST) > 0) {
      throw new GameQueueException(
          "%s of a message is from %s to 100 years: %s".formatted(what, least, value));
    }
  }
}
