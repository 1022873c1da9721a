package io.gameq.redis.script;

import io.gameq.owner.OwnerId;
import io.gameq.owner.SessionId;
import io.gameq.redis.RedisConnection;
import io.gameq.redis.RedisReply;
import io.gameq.redis.SlotKeys;
import org.jspecify.annotations.Nullable;

/** An owner's own key: which session owns as far as Redis knows. Plain commands. Stateless. */
public final class OwnKey {
  /**
   * How long the own key outlives a closed session. It must exceed any pause between reading a
   * session in MySQL and re-asserting it in Redis, so that a late re-assert of an older session is
   * still refused.
   */
  public static final long KEPT_MILLIS = 3_600_000;

  private OwnKey() {}

  /** The session that owns as far as Redis knows, if it knows of one. */
  public static @Nullable SessionId session(RedisConnection redis, SlotKeys slot, OwnerId owner) {
    byte[] own = RedisReply.await(() -> redis.sync().get(slot.own(owner)));
    return own == null ? null : SessionId.parse(LuaScript.string(own));
  }

  /** Whether the session that owns was closed. */
  static boolean isClosed(RedisConnection redis, SlotKeys slot, OwnerId owner) {
    return RedisReply.await(
        () ->
            redis.sync().pttl(slot.own(owner)) >= 0
                || redis.sync().sismember(slot.closing(), SlotKeys.bytes(owner.encoded())));
  }
}
