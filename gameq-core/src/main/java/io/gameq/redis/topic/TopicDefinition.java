package io.gameq.redis.topic;

import com.fasterxml.jackson.core.JsonGenerator;
import java.io.IOException;
import java.util.Map;

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
 * @param backoff between attempts, for a person to read
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
