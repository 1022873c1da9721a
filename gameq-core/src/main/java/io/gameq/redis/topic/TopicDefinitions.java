package io.gameq.redis.topic;

import io.gameq.GameQueueException;
import io.gameq.redis.RedisConnection;
import io.gameq.redis.RedisReply;
import io.gameq.redis.SlotKeys;
import io.gameq.redis.script.LuaScript;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** The topics of a namespace, {@code ns:topics}. Plain commands. Stateless. */
public final class TopicDefinitions {
  private TopicDefinitions() {}

  /**
   * Keeps the definition of a topic if there is none yet, else compares.
   *
   * @return the definition in Redis
   * @throws GameQueueException when Redis has a different one, showing both
   * @throws io.gameq.RedisUnavailableException when Redis does not answer; it may be kept
   */
  public static TopicDefinition agree(
      RedisConnection redis, String namespace, TopicDefinition definition) {
    byte[] field = SlotKeys.bytes(definition.topic());
    String known =
        RedisReply.await(
            () -> {
              boolean unused =
                  redis.sync().hsetnx(key(namespace), field, LuaScript.utf8(definition.json()));
              return text(redis.sync().hget(key(namespace), field));
            });
    if (known == null) {
      throw new GameQueueException(
          "somebody removed the definition of topic '" + definition.topic() + "': try again");
    }
    TopicDefinition there = TopicDefinition.of(definition.topic(), known);
    if (!there.equals(definition)) {
      throw new GameQueueException(
          ("topic '%s' is defined differently in Redis: %s; this node defines it as %s. Use the"
               + " same options on all nodes; to change them, remove field '%s' of hash '%s' while"
               + " no node has the topic open and, if slots or ageing differ, nothing is pending")
              .formatted(
                  definition.topic(),
                  there.json(),
                  definition.json(),
                  definition.topic(),
                  LuaScript.string(key(namespace))));
    }
    return there;
  }

  /**
   * All topics, by name.
   *
   * @throws GameQueueException when one cannot be read
   * @throws io.gameq.RedisUnavailableException when Redis does not answer
   */
  public static Map<String, TopicDefinition> all(RedisConnection redis, String namespace) {
    Map<String, TopicDefinition> all = new TreeMap<>();
    texts(redis, namespace)
        .forEach((topic, json) -> all.put(topic, TopicDefinition.of(topic, json)));
    return all;
  }

  /** As Redis holds them, by topic. Throws RedisUnavailableException. */
  static Map<String, String> texts(RedisConnection redis, String namespace) {
    Map<String, String> all = new TreeMap<>();
    RedisReply.await(() -> redis.sync().hgetall(key(namespace)))
        .forEach((name, json) -> all.put(LuaScript.string(name), TopicScript.text(json)));
    return all;
  }

  /**
   * One topic; null when there is none of that name.
   *
   * @throws GameQueueException when it cannot be read
   * @throws io.gameq.RedisUnavailableException when Redis does not answer
   */
  public static @Nullable TopicDefinition find(
      RedisConnection redis, String namespace, String topic) {
    String json =
        text(RedisReply.await(() -> redis.sync().hget(key(namespace), SlotKeys.bytes(topic))));
    return json == null ? null : TopicDefinition.of(topic, json);
  }

  private static @Nullable String text(byte @Nullable [] json) {
    return json == null ? null : TopicScript.text(json);
  }

  static byte[] key(String namespace) {
    return SlotKeys.bytes(namespace + ":topics");
  }
}
