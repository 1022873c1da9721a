package io.gameq.recovery.redis;

import io.gameq.GameQueueException;
import io.gameq.owner.CountingSessions;
import io.gameq.owner.OwnerId;
import io.gameq.owner.SessionId;
import io.gameq.redis.script.NodeSigns;
import io.gameq.redis.script.OpenOwners;
import io.gameq.redis.script.OpenScript;
import io.gameq.redis.script.OwnKey;
import org.jspecify.annotations.Nullable;

/**
 * Who owns an owner as far as Redis knows, and opening one for recovery itself, so that a conflict
 * can be applied. One thread.
 */
public final class OwnersInRedis {
  /** Rows of the session before wait no longer than a game's usual commits. */
  private static final long MERGE_WINDOW_MILLIS = 1_000;

  private final RecoveryRedis redis;

  public OwnersInRedis(RecoveryRedis redis) {
    this.redis = redis;
  }

  /**
   * The node that is alive and has the owner open, or has yet to tell Redis again that it has; null
   * when none has.
   */
  public @Nullable String liveHolder(OwnerId owner, CountingSessions durable) {
    SessionId holder =
        ownedBy(owner) == null
            ? durable.holder(null)
            : OpenOwners.holder(redis.connection(), redis.slot(owner), owner, durable);
    return holder == null ? null : redis.aliveNode(NodeSigns.process(holder));
  }

  /** The session that owns, as far as Redis knows. */
  public @Nullable SessionId ownedBy(OwnerId owner) {
    return OwnKey.session(redis.connection(), redis.slot(owner), owner);
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
