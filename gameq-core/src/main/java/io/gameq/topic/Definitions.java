package io.gameq.topic;

import io.gameq.GameQueueException;
import io.gameq.Retry;
import io.gameq.TopicOptions;
import io.gameq.redis.topic.TopicDefinition;
import java.time.Duration;
import java.util.List;
import java.util.stream.Collectors;

/** Turns a topic's options into its definition in Redis. Stateless. */
final class Definitions {
  /** Enough that a script holds Redis for little; each costs a command a second when idle. */
  private static final int DEFAULT_SLOTS = 16;

  private Definitions() {}

  /**
   * The definition of a topic.
   *
   * @param slots of the namespace
   * @throws GameQueueException when the topic is to have more slots than the namespace
   */
  static TopicDefinition of(String name, TopicOptions options, int slots) {
    if (options.slots() > slots) {
      throw new GameQueueException(
          "topic '%s' cannot have %d slots: the namespace has %d"
              .formatted(name, options.slots(), slots));
    }
    return new TopicDefinition(
        name,
        options.slots() == 0 ? Math.min(DEFAULT_SLOTS, slots) : options.slots(),
        options.ageing().toMillis(),
        options.payloadBytes(),
        options.retry().attempts(),
        options.lease().toMillis(),
        options.window().toMillis(),
        backoff(options.retry()));
  }

  /** The options of a topic as it is defined: with them {@link #of} defines it the same. */
  static TopicOptions options(TopicDefinition of) {
    List<String> words = List.of(of.backoff().split(" "));
    boolean jitter = words.get(words.size() - 1).equals("jitter");
    List<Duration> delays =
        words.subList(0, words.size() - (jitter ? 1 : 0)).stream().map(Definitions::delay).toList();
    return new TopicOptions(
        of.slots(),
        of.maxPayloadBytes(),
        Duration.ofMillis(of.ageMillis()),
        Duration.ofMillis(of.windowMillis()),
        Duration.ofMillis(of.leaseMillis()),
        new Retry(delays, jitter, of.mostAttempts()));
  }

  private static Duration delay(String text) {
    try {
      return text.endsWith("ms")
          ? Duration.ofMillis(Long.parseLong(text.substring(0, text.length() - 2)))
          : Duration.ofSeconds(Long.parseLong(text.substring(0, text.length() - 1)));
    } catch (RuntimeException e) { // whatever somebody has written there
      throw new GameQueueException("the back-off of a topic cannot be read: '" + text + "'", e);
    }
  }

  /** For operators, and to compare: {@code "1s 2s 4s jitter"}. */
  private static String backoff(Retry retry) {
    return retry.delays().stream().map(Definitions::text).collect(Collectors.joining(" "))
        + (retry.jitter() ? " jitter" : "");
  }

  private static String text(Duration delay) {
    return delay.toMillis() % 1000 == 0 ? delay.toMillis() / 1000 + "s" : delay.toMillis() + "ms";
  }
}
