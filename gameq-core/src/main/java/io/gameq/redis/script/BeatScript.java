package io.gameq.redis.script;

import io.gameq.redis.RedisConnection;
import io.gameq.redis.SlotKeys;

/** {@code beat.lua}: a node process gives a sign of life. Stateless. */
final class BeatScript {
  private static final LuaScript SCRIPT = LuaScript.of(BeatScript.class, "beat.lua");

  private BeatScript() {}

  /** Gives it; returns whether the one before was still there. */
  static boolean call(RedisConnection redis, byte[] key, String sign) {
    String lifeSeconds = Integer.toString(NodeSigns.LIFE_SECONDS);
    return (Long) SCRIPT.call(redis, key, SlotKeys.bytes(sign), SlotKeys.bytes(lifeSeconds)).get(0)
        == 1;
  }
}
