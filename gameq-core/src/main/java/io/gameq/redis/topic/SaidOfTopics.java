package io.gameq.redis.topic;

import io.gameq.redis.RedisClock;
import io.gameq.redis.RedisConnection;
import io.gameq.redis.RedisReply;
import io.gameq.redis.SlotKeys;
import io.gameq.redis.script.LuaScript;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * What operators or games said of topics: the HASH {@code ns:topics:NAME}, topic to text. Plain
 * commands; each throws RedisUnavailableException when Redis does not answer. Immutable.
 */
record SaidOfTopics(String name) {
  /** When (now, Redis TIME in ms), who and why, tabs between them. */
  static String by(RedisConnection redis, String who, String reason) {
    return RedisClock.now(redis) + "\t" + who.replace('\t', ' ') + "\t" + reason;
  }

  /** Says it, or something else; it may be said if this throws. */
  void say(RedisConnection redis, String namespace, String topic, String text) {
    Map<byte[], byte[]> said = Map.of(SlotKeys.bytes(topic), LuaScript.utf8(text));
    long unused = RedisReply.await(() -> redis.sync().hset(key(namespace), said));
  }

  /** Says it no longer; whether it was said. */
  boolean end(RedisConnection redis, String namespace, String topic) {
    return RedisReply.await(() -> redis.sync().hdel(key(namespace), SlotKeys.bytes(topic))) > 0;
  }

  /** What is said of a topic; null for nothing. */
  @Nullable String find(RedisConnection redis, String namespace, String topic) {
    byte[] text = RedisReply.await(() -> redis.sync().hget(key(namespace), SlotKeys.bytes(topic)));
    return text == null ? null : TopicScript.text(text);
  }

  /** All of which something is said, by topic. */
  Map<String, String> all(RedisConnection redis, String namespace) {
    Map<String, String> all = new TreeMap<>();
    RedisReply.await(() -> redis.sync().hgetall(key(namespace)))
        .forEach((topic, text) -> all.put(LuaScript.string(topic), TopicScript.text(text)));
    return all;
  }

  private byte[] key(String namespace) {
    return SlotKeys.bytes(namespace + ":topics:" + name);
  }
}
