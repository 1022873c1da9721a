package io.gameq.recovery.redis;

import io.gameq.GameQueueException;
import io.gameq.OwnerId;
import io.gameq.SessionId;
import io.gameq.redis.NodeHeartbeat;
import io.gameq.redis.OpenScript;
import io.gameq.redis.RedisReply;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/**
 * The second step of opening an owner for recovery itself, so that a conflict can be applied. One
 * thread.
 */
public final class Takeover {
  /** Rows of the session before wait no longer than a game's usual commits. */
  private static final long MERGE_WINDOW_MILLIS = 1_000;

  private static final int PROCESS_DIGITS = 8;

  private final RecoveryRedis redis;

  public Takeover(RecoveryRedis redis) {
    this.redis = redis;
  }

  /**
   * The node that is alive and has the owner open under this session, or has yet to tell Redis
   * again that it has; null when none has.
   */
  public @Nullable String liveHolder(OwnerId owner, SessionId session) {
    if (ownedBy(owner) == null) {
      return redis.aliveNode(session.nonce().substring(0, PROCESS_DIGITS));
    }
    return NodeHeartbeat.holder(
        redis.connection(), redis.namespace(), redis.slot(owner), owner, session);
  }

  /** The session that owns, as far as Redis knows. */
  public @Nullable SessionId ownedBy(OwnerId owner) {
    byte[] own =
        RedisReply.await(() -> redis.connection().sync().get(redis.slot(owner).own(owner)));
    return own == null ? null : SessionId.parse(new String(own, StandardCharsets.US_ASCII));
  }

  /**
   * Makes the session the owner's in Redis; it adopts what the session before left dirty.
   *
   * @throws GameQueueException when a newer session owns: then nothing was changed
   */
  public void open(OwnerId owner, SessionId session) {
    OpenScript.Outcome outcome =
        OpenScript.call(redis.connection(), redis.slot(owner), owner, session, MERGE_WINDOW_MILLIS);
    if (outcome instanceof OpenScript.Refused refused) {
      throw new GameQueueException(
          "session " + refused.ownedBy() + " opened " + owner.id() + " at the same moment");
    }
  }
}
