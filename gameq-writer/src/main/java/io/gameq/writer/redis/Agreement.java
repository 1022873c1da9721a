package io.gameq.writer.redis;

import io.gameq.OwnerId;
import io.gameq.SessionId;
import io.gameq.commit.CountingSessions;
import io.gameq.redis.OpenScript;
import io.gameq.redis.SessionScripts;
import io.gameq.redis.SlotKeys;
import io.lettuce.core.api.StatefulRedisConnection;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Tells Redis who owns, by MySQL, where rows would else wait for the next login. Stateless; may be
 * repeated.
 */
public final class Agreement {
  private static final Logger LOG = LoggerFactory.getLogger(Agreement.class);

  private Agreement() {}

  /**
   * Makes the last session that was open own again where Redis forgot it; parks what an older one
   * committed since, which this one never saw and must not adopt now. Where a later one owns that
   * counts no more, finishes the open that came after it, whose node is gone: it adopts.
   *
   * @param durable has not changed for so long that no open is under way
   */
  public static void tell(
      StatefulRedisConnection<byte[], byte[]> redis,
      SlotKeys slot,
      OwnerId owner,
      CountingSessions durable) {
    SessionId lastOpen = durable.lastOpen();
    boolean owns = lastOpen != null && SessionScripts.reassert(redis, slot, owner, lastOpen);
    if (!owns && durable.opening()) {
      LOG.warn(
          "finishing the open of {} by session {}, whose node is gone", owner, durable.newest());
      OpenScript.finish(redis, slot, owner, durable.newest());
    }
  }
}
