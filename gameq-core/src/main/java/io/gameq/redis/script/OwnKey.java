package io.gameq.redis.script;

import io.gameq.GameQueueException;
import io.gameq.owner.OwnerId;
import io.gameq.owner.SessionId;
import io.gameq.redis.RedisConnection;
import io.gameq.redis.RedisReply;
import io.gameq.redis.SlotKeys;
import io.lettuce.core.KeyValue;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * An owner's own key: which session owns as far as Redis knows. Plain commands, and {@code
 * close.lua}. Stateless.
 */
public final class OwnKey {
  /**
   * How long the own key outlives a closed session. It must exceed any pause between reading a
   * session in MySQL and re-asserting it in Redis, so that a late re-assert of an older session is
   * still refused.
   */
  public static final long KEPT_MILLIS = 3_600_000;

  /** An MGET holds Redis for as long as it takes. */
  private static final int AT_ONCE = 500;

  private static final LuaScript CLOSE = LuaScript.of(OwnKey.class, "close.lua");

  private OwnKey() {}

  /** Ends a session; false when another session owns: then nothing was changed. */
  public static boolean close(
      RedisConnection redis, SlotKeys slot, OwnerId owner, SessionId session) {
    return (Long) CLOSE.call(redis, slot, owner, session, KEPT_MILLIS).get(0) == 1;
  }

  /** The session that owns as far as Redis knows, if it knows of one. */
  public static @Nullable SessionId session(RedisConnection redis, SlotKeys slot, OwnerId owner) {
    byte[] own = RedisReply.await(() -> redis.sync().get(slot.own(owner)));
    return own == null ? null : SessionId.parse(LuaScript.string(own));
  }

  /** Those of several owners of a slot, as far as Redis knows. Skips keys that are damaged. */
  public static Map<OwnerId, SessionId> sessions(
      RedisConnection redis, SlotKeys slot, List<OwnerId> owners) {
    Map<OwnerId, SessionId> known = new HashMap<>();
    for (List<OwnerId> some : LuaScript.pieces(owners, AT_ONCE)) {
      byte[][] keys = some.stream().map(slot::own).toArray(byte[][]::new);
      List<KeyValue<byte[], byte[]>> owns = RedisReply.await(() -> redis.sync().mget(keys));
      for (int i = 0; i < keys.length; i++) {
        if (owns.get(i).hasValue()) {
          put(known, some.get(i), LuaScript.string(owns.get(i).getValue()));
        }
      }
    }
    return known;
  }

  private static void put(Map<OwnerId, SessionId> known, OwnerId owner, String own) {
    try {
      known.put(owner, SessionId.parse(own));
    } catch (GameQueueException e) {
      // somebody else wrote there: it tells nothing of this owner, and holds up no other
    }
  }

  /** Whether the session that owns was closed. */
  static boolean isClosed(RedisConnection redis, SlotKeys slot, OwnerId owner) {
    return RedisReply.await(
        () ->
            redis.sync().pttl(slot.own(owner)) >= 0
                || redis.sync().sismember(slot.closing(), SlotKeys.bytes(owner.encoded())));
  }
}
