package io.gameq.redis.script;

import io.gameq.owner.OwnerId;
import io.gameq.owner.SessionId;
import io.gameq.redis.RedisConnection;
import io.gameq.redis.SlotKeys;
import java.util.List;

/** {@code pending.lua}: whether anything of a session waits to be flushed. Stateless. */
public final class PendingScript {
  private static final LuaScript SCRIPT = LuaScript.of(PendingScript.class, "pending.lua");

  private PendingScript() {}

  /**
   * Whether Redis holds nothing of a session, dirty or claimed, as far as it knows. Of a session
   * that no longer owns it knows nothing: its rows were adopted, flushed or parked, so only MySQL
   * can tell, and this returns true.
   */
  public static boolean holdsNothing(
      RedisConnection redis, SlotKeys slot, OwnerId owner, SessionId session) {
    List<Object> reply = SCRIPT.call(redis, slot, List.of(owner.encoded(), session.text()));
    return !LuaScript.string(reply.get(0)).equals(session.text()) || (Long) reply.get(1) == 0;
  }
}
