package io.gameq.redis.script;

import io.gameq.owner.OwnerId;
import io.gameq.owner.SessionId;
import io.gameq.redis.RedisConnection;
import io.gameq.redis.SlotKeys;
import java.util.List;

/** {@code close.lua}: ends a session. Stateless. */
public final class CloseScript {
  private static final LuaScript SCRIPT = LuaScript.of(CloseScript.class, "close.lua");

  private CloseScript() {}

  /** Ends a session; false when another session owns: then nothing was changed. */
  public static boolean call(
      RedisConnection redis, SlotKeys slot, OwnerId owner, SessionId session) {
    String kept = Long.toString(OwnKey.KEPT_MILLIS);
    List<Object> reply = SCRIPT.call(redis, slot, List.of(owner.encoded(), session.text(), kept));
    return (Long) reply.get(0) == 1;
  }
}
