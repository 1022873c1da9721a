package io.gameq.healing;

import io.gameq.redis.RedisConnection;
import io.gameq.redis.RedisReply;
import io.gameq.redis.SlotKeys;
import io.gameq.redis.script.LuaScript;

/** How far into a WAL Redis holds it, in one slot. Stateless. */
final class JournalMark {
  private JournalMark() {}

  /** The newest sequence of a WAL that Redis holds in a slot; 0 when it knows none. */
  static long read(RedisConnection redis, SlotKeys slot, String walId) {
    byte[] mark = RedisReply.await(() -> redis.sync().hget(slot.journal(), SlotKeys.bytes(walId)));
    return mark == null ? 0 : Long.parseLong(LuaScript.string(mark));
  }
}
