package io.gameq.redis.topic;

import io.gameq.redis.RedisConnection;
import io.gameq.redis.RedisReply;
import io.gameq.redis.SlotKeys;
import io.gameq.redis.script.LuaScript;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * The topics of a namespace as Redis holds them, {@code ns:topics}: a copy of MySQL's {@code
 * gameq_topic}, so that consumers need not ask MySQL. One that is missing is put back. Stateless.
 */
public final class DefinedTopics {
  private static final LuaScript DEFINE = LuaScript.of(DefinedTopics.class, "define.lua");

  /** In one call of the script. */
  private static final int MOST_AT_ONCE = 200;

  private DefinedTopics() {}

  /**
   * Puts topics as MySQL has them, however late: what Redis has in a newer revision stays. Also at
   * {@code maxmemory}.
   *
   * @throws io.gameq.RedisUnavailableException when Redis does not answer; some may be put then
   */
  public static void put(RedisConnection redis, String namespace, Collection<DefinedTopic> topics) {
    List<byte[]> args = new ArrayList<>();
    for (DefinedTopic of : topics) {
      args.add(SlotKeys.bytes(of.topic()));
      args.add(LuaScript.utf8(of.text()));
    }
    for (int from = 0; from < args.size(); from += 2 * MOST_AT_ONCE) {
      List<byte[]> some = args.subList(from, Math.min(args.size(), from + 2 * MOST_AT_ONCE));
      DEFINE.call(redis, key(namespace), some);
    }
  }

  /**
   * One topic; null when Redis has none of that name.
   *
   * @throws io.gameq.GameQueueException when it cannot be read
   * @throws io.gameq.RedisUnavailableException when Redis does not answer
   */
  public static @Nullable DefinedTopic find(RedisConnection redis, String namespace, String topic) {
    byte[] text = RedisReply.await(() -> redis.sync().hget(key(namespace), SlotKeys.bytes(topic)));
    return text == null ? null : DefinedTopic.ofText(topic, ConsumerScripts.text(text));
  }

  /**
   * All topics, by name.
   *
   * @throws io.gameq.GameQueueException when one cannot be read
   * @throws io.gameq.RedisUnavailableException when Redis does not answer
   */
  public static Map<String, DefinedTopic> all(RedisConnection redis, String namespace) {
    Map<String, DefinedTopic> all = new TreeMap<>();
    texts(redis, namespace)
        .forEach((topic, text) -> all.put(topic, DefinedTopic.ofText(topic, text)));
    return all;
  }

  /** As Redis holds them, by topic. Throws RedisUnavailableException. */
  static Map<String, String> texts(RedisConnection redis, String namespace) {
    Map<String, String> all = new TreeMap<>();
    RedisReply.await(() -> redis.sync().hgetall(key(namespace)))
        .forEach((name, text) -> all.put(LuaScript.string(name), ConsumerScripts.text(text)));
    return all;
  }

  private static byte[] key(String namespace) {
    return SlotKeys.bytes(namespace + ":topics");
  }
}
