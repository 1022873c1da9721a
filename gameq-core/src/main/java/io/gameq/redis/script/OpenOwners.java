package io.gameq.redis.script;

import io.gameq.owner.CountingSessions;
import io.gameq.owner.OwnerId;
import io.gameq.owner.SessionId;
import io.gameq.redis.ControlConnection;
import io.gameq.redis.RedisConnection;
import io.gameq.redis.SlotKeys;
import org.jspecify.annotations.Nullable;

/** Where an owner is open, as far as Redis and the signs of life of nodes tell. Immutable. */
public final class OpenOwners {
  private final String namespace;
  private final String process;

  /**
   * As one node process asks.
   *
   * @param process its id, 8 hex digits
   */
  public OpenOwners(String namespace, String process) {
    this.namespace = namespace;
    this.process = process;
  }

  /**
   * Where an owner is open, if that is not here: on a node that is alive, or that may be alive
   * since Redis was away or failed over a moment ago. Null when this process has it open, the
   * session was closed, or its node has given no sign of life for {@link NodeSigns#LIFE_SECONDS}
   * while Redis took them. A session that Redis does not know counts as open while its node is
   * alive and has not healed, as when it cannot reach MySQL.
   */
  public @Nullable String elsewhere(
      ControlConnection redis, SlotKeys slot, OwnerId owner, CountingSessions durable) {
    return redis.call(connection -> elsewhere(connection, slot, owner, durable));
  }

  private @Nullable String elsewhere(
      RedisConnection redis, SlotKeys slot, OwnerId owner, CountingSessions durable) {
    SessionId inRedis = OwnKey.session(redis, slot, owner);
    boolean isKnown =
        inRedis != null
            && (CountingSessions.counts(durable, inRedis) || inRedis.isNewerThan(durable.newest()));
    if (isKnown && OwnKey.isClosed(redis, slot, owner)) {
      return null;
    }
    SessionId session = isKnown ? durable.holder(inRedis) : durable.lastOpen();
    if (session == null || NodeSigns.process(session).equals(process)) {
      return null;
    }
    String sign = NodeSigns.sign(redis, namespace, NodeSigns.process(session));
    if (sign != null && (isKnown || sign.endsWith(NodeSigns.UNHEALED))) {
      return "on node " + NodeSigns.name(sign) + ", which is alive";
    }
    // Its node may have had no chance to tell this server of itself, or of the session.
    long millis = UnbrokenScript.call(redis, namespace);
    return millis >= NodeSigns.LIFE_SECONDS * 1_000L
        ? null
        : "on a node that may be alive: Redis can tell in %.1f s"
            .formatted(NodeSigns.LIFE_SECONDS - millis / 1000.0);
  }

  /**
   * The session under which an owner is open; null when it was closed, or Redis knows of none.
   *
   * @param durable the owner's sessions in MySQL
   */
  public static @Nullable SessionId holder(
      RedisConnection redis, SlotKeys slot, OwnerId owner, CountingSessions durable) {
    SessionId inRedis = OwnKey.session(redis, slot, owner);
    return inRedis == null || OwnKey.isClosed(redis, slot, owner) ? null : durable.holder(inRedis);
  }
}
