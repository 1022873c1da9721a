package io.gameq.healing;

import io.gameq.owner.OwnerId;
import io.gameq.owner.SessionId;
import io.gameq.redis.RedisConnection;
import io.gameq.redis.SlotKeys;
import io.gameq.redis.script.NodeSigns;
import io.gameq.redis.script.OwnKey;
import org.jspecify.annotations.Nullable;

/** One connection to Redis, on which a replay sends scripts many at a time. One thread. */
@SuppressWarnings("ArrayRecordComponent") // nobody compares them
public record ReplayRedis(RedisConnection connection, String namespace, SlotKeys[] slots) {
  public SlotKeys slot(OwnerId owner) {
    return slots[owner.slot(slots.length)];
  }

  /** The node of which this process is alive, null when it gave no sign of life for 15 s. */
  public @Nullable String aliveNode(String process) {
    return NodeSigns.aliveNode(connection, namespace, process);
  }

  /** The session that owns, as far as Redis knows. */
  public @Nullable SessionId ownedBy(OwnerId owner) {
    return OwnKey.session(connection, slot(owner), owner);
  }
}
