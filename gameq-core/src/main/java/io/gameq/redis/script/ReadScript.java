package io.gameq.redis.script;

import io.gameq.owner.OwnerId;
import io.gameq.owner.SessionId;
import io.gameq.redis.RedisConnection;
import io.gameq.redis.SlotKeys;
import io.gameq.rows.EncodedRow;
import java.util.ArrayList;
import java.util.List;

/**
 * {@code read.lua} and {@code pending.lua}: what of an owner is not flushed, for who has no
 * session. Stateless.
 */
public final class ReadScript {
  private static final LuaScript READ = LuaScript.of(ReadScript.class, "inbox.lua", "read.lua");
  private static final LuaScript PENDING = LuaScript.of(ReadScript.class, "pending.lua");

  private ReadScript() {}

  /** Everything of an owner that is not flushed: dirty, claimed and sent to it, in no order. */
  public static List<EncodedRow> call(RedisConnection redis, SlotKeys slot, OwnerId owner) {
    List<EncodedRow> rows = new ArrayList<>();
    READ.call(redis, slot, owner).forEach(some -> rows.addAll(OpenScript.rows(some)));
    return rows;
  }

  /**
   * Whether Redis holds nothing of a session, dirty or claimed, as far as it knows. Of a session
   * that no longer owns it knows nothing: its rows were adopted, flushed or parked, so only MySQL
   * can tell, and this returns true.
   */
  public static boolean holdsNothing(
      RedisConnection redis, SlotKeys slot, OwnerId owner, SessionId session) {
    List<Object> reply = PENDING.call(redis, slot, owner, session);
    return !LuaScript.string(reply.get(0)).equals(session.text()) || (Long) reply.get(1) == 0;
  }
}
