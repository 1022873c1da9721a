package io.gameq.redis.script;

import io.gameq.redis.RedisConnection;
import io.gameq.redis.SlotKeys;
import java.util.List;

/** {@code beat.lua}: a node process gives a sign of life. Stateless. */
final class BeatScript {
  private static final LuaScript SCRIPT = LuaScript.of(BeatScript.class, "beat.lua");

  private BeatScript() {}

  /**
   * What Redis answered.
   *
   * @param wasThere whether the sign before was still there
   * @param redisMillis Redis TIME, ms
   */
  record Answer(boolean wasThere, long redisMillis) {}

  /** Gives it. */
  static Answer call(RedisConnection redis, byte[] key, String sign) {
    String lifeSeconds = Integer.toString(NodeSigns.LIFE_SECONDS);
    List<Object> reply = SCRIPT.call(redis, key, SlotKeys.bytes(sign), SlotKeys.bytes(lifeSeconds));
    return new Answer((Long) reply.get(0) == 1, (Long) reply.get(1));
  }
}
