package io.gameq.redis.script;

import io.gameq.owner.OwnerId;
import io.gameq.redis.RedisConnection;
import io.gameq.redis.RedisReply;
import io.gameq.redis.SlotKeys;
import java.util.List;

/** The inboxes in which rows wait that were sent to an owner. A plain command. Stateless. */
public final class InboxNames {
  private InboxNames() {}

  /**
   * All of an owner's, one for each node that sent something.
   *
   * @throws io.gameq.GameQueueException when Redis does not answer, or holds somebody else's value
   */
  public static List<OwnerId> of(RedisConnection redis, SlotKeys slot, OwnerId owner) {
    return RedisReply.await(() -> redis.sync().hkeys(slot.inboxes(owner))).stream()
        .map(LuaScript::string)
        .sorted()
        .map(OwnerId::ofEncoded)
        .filter(OwnerId::isInbox)
        .toList();
  }
}
