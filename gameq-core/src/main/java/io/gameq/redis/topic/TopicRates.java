package io.gameq.redis.topic;

import io.gameq.GameQueueException;
import io.gameq.redis.RedisConnection;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Topics of which all nodes together take at most so many messages a second. {@code
 * ns:topics:rates}: topic to messages a second, when, who and reason, tabs between them; {@link
 * GrantScript} shares them out. Stateless.
 */
public final class TopicRates {
  /** Lowest and highest: an hour a message, and more than a Redis has. */
  private static final double LEAST = 1.0 / 3600;

  private static final double MOST = 1_000_000;
  private static final SaidOfTopics RATES = new SaidOfTopics("rates");

  private TopicRates() {}

  /**
   * How many, and why.
   *
   * @param sinceMillis Redis TIME in ms
   * @param who set it
   */
  public record Rate(double perSecond, long sinceMillis, String who, String reason) {
    /** Null when somebody else wrote something else there: then there is none. */
    static @Nullable Rate of(String text) {
      int end = text.indexOf('\t');
      try {
        double perSecond = Double.parseDouble(text.substring(0, Math.max(0, end)));
        check(perSecond);
        TopicPauses.Pause set = TopicPauses.Pause.of(text.substring(end + 1));
        return new Rate(perSecond, set.sinceMillis(), set.who(), set.reason());
      } catch (NumberFormatException | GameQueueException e) {
        return null;
      }
    }
  }

  /**
   * Throws GameQueueException when a rate is out of range.
   *
   * @param perSecond messages a second of all nodes
   */
  public static void check(double perSecond) {
    if (!(perSecond >= LEAST && perSecond <= MOST)) {
      throw new GameQueueException(
          "the rate of a topic must be from one message an hour (%.6f) to %,.0f a second: %s"
              .formatted(LEAST, MOST, perSecond));
    }
  }

  /**
   * Sets a rate, or another one. Throws GameQueueException when it is out of range, and
   * RedisUnavailableException, then it may be set.
   */
  public static void set(
      RedisConnection redis,
      String namespace,
      String topic,
      double perSecond,
      String reason,
      String who) {
    check(perSecond);
    RATES.say(redis, namespace, topic, perSecond + "\t" + SaidOfTopics.by(redis, who, reason));
  }

  /** Ends a rate; whether there was one. Throws RedisUnavailableException. */
  public static boolean end(RedisConnection redis, String namespace, String topic) {
    return RATES.end(redis, namespace, topic);
  }

  /** The rate of a topic; null when it has none. Throws RedisUnavailableException. */
  public static @Nullable Rate find(RedisConnection redis, String namespace, String topic) {
    String text = RATES.find(redis, namespace, topic);
    return text == null ? null : Rate.of(text);
  }

  /** All that have one, by topic. Throws RedisUnavailableException. */
  public static Map<String, Rate> all(RedisConnection redis, String namespace) {
    Map<String, Rate> all = new TreeMap<>();
    RATES
        .all(redis, namespace)
        .forEach(
            (topic, text) -> {
              Rate rate = Rate.of(text);
              if (rate != null) {
                all.put(topic, rate);
              }
            });
    return all;
  }
}
