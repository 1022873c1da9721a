package io.gameq.topic;

import io.gameq.GameQueueException;
import io.gameq.Retry;
import io.gameq.TopicOptions;
import io.gameq.redis.topic.TopicDefinition;
import java.time.Duration;
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

  /** For operators, and to compare: {@code "1s 2s 4s jitter"}. */
  private static String backoff(Retry retry) {
    return retry.delays().stream().map(Definitions::text).collect(Collectors.joining(" "))
        + (retry.jitter() ? " jitter" : "");
  }

  private static String text(Duration delay) {
    return delay.toMillis() % 1000 == 0 ? delay.toMillis() / 1000 + "s" : delay.toMillis() + "ms";
  }
}
