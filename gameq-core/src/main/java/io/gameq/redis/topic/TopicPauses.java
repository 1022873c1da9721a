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
 * Topics that are paused: consumers take nothing of them; what is held is finished. {@code
 * ns:topics:paused}: topic to when, who and reason, tabs between them. Plain commands. Stateless.
 */
public final class TopicPauses {
  private TopicPauses() {}

  /**
   * Why a topic is paused.
   *
   * @param sinceMillis Redis TIME in ms
   * @param who paused it
   */
  public record Pause(long sinceMillis, String who, String reason) {}

  /** Pauses, or gives another reason; throws RedisUnavailableException, then it may be paused. */
  public static void pause(
      RedisConnection redis, String namespace, String topic, String reason, String who) {
    long unused =
        RedisReply.await(
            () -> {
              byte[] text = LuaScript.utf8(text(redis, who, reason));
              return redis.sync().hset(key(namespace), Map.of(SlotKeys.bytes(topic), text));
            });
  }

  /** When (now), who and why, as Redis has it. */
  static String text(RedisConnection redis, String who, String reason) {
    return RedisClock.now(redis) + "\t" + who.replace('\t', ' ') + "\t" + reason;
  }

  /** Ends a pause; whether there was one. Throws RedisUnavailableException. */
  public static boolean resume(RedisConnection redis, String namespace, String topic) {
    return RedisReply.await(() -> redis.sync().hdel(key(namespace), SlotKeys.bytes(topic))) > 0;
  }

  /** Whether a topic is paused. Throws RedisUnavailableException when Redis does not answer. */
  public static boolean isPaused(RedisConnection redis, String namespace, String topic) {
    return RedisReply.await(() -> redis.sync().hget(key(namespace), SlotKeys.bytes(topic))) != null;
  }

  /** Why a topic is paused; null when it is not. Throws RedisUnavailableException. */
  public static @Nullable Pause find(RedisConnection redis, String namespace, String topic) {
    byte[] text = RedisReply.await(() -> redis.sync().hget(key(namespace), SlotKeys.bytes(topic)));
    return text == null ? null : pause(TopicScript.text(text));
  }

  /** All that are paused, by topic. Throws RedisUnavailableException. */
  public static Map<String, Pause> all(RedisConnection redis, String namespace) {
    Map<String, Pause> all = new TreeMap<>();
    RedisReply.await(() -> redis.sync().hgetall(key(namespace)))
        .forEach((topic, text) -> all.put(LuaScript.string(topic), pause(TopicScript.text(text))));
    return all;
  }

  /** Reads it; what is no such text is all reason. */
  static Pause pause(String text) {
    String[] words = text.split("\t", 3);
    return words.length < 3
        ? new Pause(0, "", text)
        : new Pause(Long.parseLong(words[0]), words[1], words[2]);
  }

  private static byte[] key(String namespace) {
    return SlotKeys.bytes(namespace + ":topics:paused");
  }
}
