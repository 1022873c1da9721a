package io.gameq.redis.topic;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import io.gameq.GameQueueException;
import java.io.IOException;
import java.io.StringWriter;
import java.util.HashMap;
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
  private static final JsonFactory JSON = new JsonFactory();

  /** As Redis holds it: one line of JSON. */
  public String json() {
    StringWriter text = new StringWriter();
    try (JsonGenerator to = JSON.createGenerator(text)) {
      to.writeStartObject();
      to.writeNumberField("slots", slots);
      to.writeNumberField("ageMillis", ageMillis);
      to.writeNumberField("maxPayloadBytes", maxPayloadBytes);
      to.writeNumberField("mostAttempts", mostAttempts);
      to.writeNumberField("leaseMillis", leaseMillis);
      to.writeNumberField("windowMillis", windowMillis);
      to.writeStringField("backoff", backoff);
      to.writeEndObject();
    } catch (IOException e) {
      throw new IllegalStateException(e); // it writes into memory
    }
    return text.toString();
  }

  /**
   * Reads it; members that are not known are left out.
   *
   * @throws GameQueueException when it is not such JSON
   */
  static TopicDefinition of(String topic, String json) {
    Map<String, String> members = new HashMap<>();
    try (JsonParser from = JSON.createParser(json)) {
      from.nextToken();
      while (from.nextToken() == JsonToken.FIELD_NAME) {
        String name = from.currentName();
        from.nextToken();
        members.put(name, from.getText());
        from.skipChildren();
      }
      return new TopicDefinition(
          topic,
          (int) number(members, "slots"),
          number(members, "ageMillis"),
          (int) number(members, "maxPayloadBytes"),
          (int) number(members, "mostAttempts"),
          number(members, "leaseMillis"),
          number(members, "windowMillis"),
          members.getOrDefault("backoff", ""));
    } catch (IOException | NumberFormatException e) {
      throw new GameQueueException("the definition of topic '" + topic + "' cannot be read", e);
    }
  }

  private static long number(Map<String, String> members, String name) {
    return Long.parseLong(members.getOrDefault(name, "0"));
  }
}
