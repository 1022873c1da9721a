package io.gameq.writer.flush;

import io.gameq.owner.CountingSessions;
import io.gameq.owner.OwnerId;
import io.gameq.owner.SessionId;
import io.gameq.redis.RedisConnection;
import io.gameq.redis.SlotKeys;
import io.gameq.redis.script.OpenScript;
import io.gameq.redis.script.ReassertScript;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Tells Redis who owns, by MySQL, where rows would else wait for the next login. Stateless; may be
 * repeated.
 */
public final class OwnersInRedis {
  private static final Logger LOG = LoggerFactory.getLogger(OwnersInRedis.class);

  private OwnersInRedis() {}

  /**
   * Makes the last session that was open own again where Redis forgot it; parks what an older one
   * committed since, which this one never saw and must not adopt now. Where a later one owns that
   * counts no more, finishes the open that came after it, whose node is gone: it adopts.
   *
   * @param durable has not changed for so long that no open is under way
   */
  public static void tell(
      RedisConnection redis, SlotKeys slot, OwnerId owner, CountingSessions durable) {
    SessionId lastOpen = durable.lastOpen();
    boolean owns = lastOpen != null && ReassertScript.call(redis, slot, owner, lastOpen);
    if (!owns && durable.opening()) {
      LOG.warn(
          "finishing the open of {} by session {}, whose node is gone", owner, durable.newest());
      OpenScript.finish(redis, slot, owner, durable.newest());
    }
  }
}
