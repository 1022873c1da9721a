package io.gameq.redis.topic;

import com.fasterxml.jackson.core.JsonGenerator;
import io.gameq.GameQueueException;
import io.gameq.topic.Retry;
import io.gameq.topic.TopicOptions;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * What a topic is: the same on all nodes. Immutable.
 *
 * @param slots a power of two, at most those of the namespace
 * @param ageMillis by how much of being due earlier one step of priority counts; 0 for a topic
 *     without priorities
 * @param maxPayloadBytes of a payload
 * @param mostAttempts of a message until it is a dead letter
 * @param leaseMillis how long a handler has
 * @param windowMillis the merge window of messages that do not say when they are due
 * @param backoff between attempts, for operators, and to compare: {@code "1s 2s 4s jitter"}
 */
public record TopicDefinition(
    String topic,
    int slots,
    long ageMillis,
    int maxPayloadBytes,
    int mostAttempts,
    long leaseMillis,
    long windowMillis,
    String backoff) {
  /** Enough that a script holds Redis for little; each costs a command a second when idle. */
  private static final int DEFAULT_SLOTS = 16;

  /**
   * The definition of a topic with these options.
   *
   * @param slots of the namespace
   * @throws GameQueueException when the topic is to have more slots than the namespace
   */
  public static TopicDefinition of(String topic, TopicOptions options, int slots) {
    if (options.slots() > slots) {
      throw new GameQueueException(
          "topic '%s' cannot have %s slots: the namespace has %s"
              .formatted(topic, options.slots(), slots));
    }
    Retry retry = options.retry();
    return new TopicDefinition(
        topic,
        options.slots() == 0 ? Math.min(DEFAULT_SLOTS, slots) : options.slots(),
        options.ageing().toMillis(),
        options.payloadBytes(),
        retry.attempts(),
        options.lease().toMillis(),
        options.window().toMillis(),
        retry.delays().stream().map(TopicDefinition::text).collect(Collectors.joining(" "))
            + (retry.jitter() ? " jitter" : ""));
  }

  private static String text(Duration delay) {
    return delay.toMillis() % 1000 == 0 ? delay.toMillis() / 1000 + "s" : delay.toMillis() + "ms";
  }

  /**
   * Options with which {@link #of} defines the topic the same.
   *
   * @throws GameQueueException when somebody has written what cannot be read
   */
  public TopicOptions options() {
    List<String> words = List.of(backoff.split(" "));
    boolean jitter = words.get(words.size() - 1).equals("jitter");
    List<Duration> delays =
        words.subList(0, words.size() - (jitter ? 1 : 0)).stream()
            .map(TopicDefinition::delay)
            .toList();
    return new TopicOptions(
        slots,
        maxPayloadBytes,
        Duration.ofMillis(ageMillis),
        Duration.ofMillis(windowMillis),
        Duration.ofMillis(leaseMillis),
        new Retry(delays, jitter, mostAttempts));
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

  /** For a person to read: one line of JSON. */
  public String json() {
    return new DefinedTopic(0, this, null, null).json();
  }

  void write(JsonGenerator to) throws IOException {
    to.writeNumberField("slots", slots);
    to.writeNumberField("ageMillis", ageMillis);
    to.writeNumberField("maxPayloadBytes", maxPayloadBytes);
    to.writeNumberField("mostAttempts", mostAttempts);
    to.writeNumberField("leaseMillis", leaseMillis);
    to.writeNumberField("windowMillis", windowMillis);
    to.writeStringField("backoff", backoff);
  }

  /** Throws NumberFormatException. */
  static TopicDefinition of(String topic, Map<String, String> members) {
    return new TopicDefinition(
        topic,
        (int) number(members, "slots"),
        number(members, "ageMillis"),
        (int) number(members, "maxPayloadBytes"),
        (int) number(members, "mostAttempts"),
        number(members, "leaseMillis"),
        number(members, "windowMillis"),
        members.getOrDefault("backoff", ""));
  }

  private static long number(Map<String, String> members, String name) {
    return Long.parseLong(members.getOrDefault(name, "0"));
  }
}
