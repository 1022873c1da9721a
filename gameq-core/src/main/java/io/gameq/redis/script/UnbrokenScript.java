package io.gameq.redis.script;

import io.gameq.redis.RedisConnection;
import io.gameq.redis.RedisReply;
import io.gameq.redis.SlotKeys;

/** {@code unbroken.lua}: for how long a Redis has been given signs of life. Stateless. */
final class UnbrokenScript {
  private static final LuaScript SCRIPT = LuaScript.of(UnbrokenScript.class, "unbroken.lua");

  /** A longer pause is a break. */
  private static final long BREAK_MILLIS = NodeSigns.LIFE_SECONDS * 1_000L / 2;

  private UnbrokenScript() {}

  /**
   * For how long nodes have given signs of life here without a break, ms; to be called with each.
   */
  static long call(RedisConnection redis, String namespace) {
    byte[] pause = SlotKeys.bytes(Long.toString(BREAK_MILLIS));
    return (Long) SCRIPT.call(redis, key(namespace), pause).get(0);
  }

  /** Begins anew: what was before counts as a break. */
  static void restart(RedisConnection redis, String namespace) {
    RedisReply.await(() -> redis.sync().del(key(namespace)));
    long unused = call(redis, namespace);
  }

  static byte[] key(String namespace) {
    return SlotKeys.bytes(namespace + ":nodes");
  }
}
