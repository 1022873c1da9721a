package io.gameq.redis.script;

import io.gameq.owner.CountingSessions;
import io.gameq.owner.OwnerId;
import io.gameq.owner.SessionId;
import io.gameq.redis.ControlConnection;
import io.gameq.redis.RedisConnection;
import io.gameq.redis.RedisReply;
import io.gameq.redis.SlotKeys;
import java.util.Locale;
import java.util.function.BiPredicate;
import org.jspecify.annotations.Nullable;

/** Where an owner is open, as far as Redis and the signs of life of nodes tell. Immutable. */
public final class OpenOwners {
  private final String namespace;
  private final String process;
  private final BiPredicate<OwnerId, SessionId> isOpenHere;

  /**
   * As one node process asks.
   *
   * @param process its id, 8 hex digits
   * @param isOpenHere whether the game has a session of this process open
   */
  public OpenOwners(String namespace, String process, BiPredicate<OwnerId, SessionId> isOpenHere) {
    this.namespace = namespace;
    this.process = process;
    this.isOpenHere = isOpenHere;
  }

  /**
   * Where an owner is open.
   *
   * @param session under which it is
   * @param where as it is said to users
   */
  public record Holder(SessionId session, String where) {}

  /**
   * Where an owner is open: in a session that this process has open, on a node that is alive, or on
   * one that may be alive since Redis was away or failed over a moment ago. Null when the session
   * was closed, is one of this process that the game has not got, or its node has given no sign of
   * life for {@link NodeSigns#LIFE_SECONDS} while Redis took them. A session that Redis does not
   * know counts as open while its node is alive and has not healed, as when it cannot reach MySQL.
   */
  public @Nullable Holder holder(
      RedisConnection redis, SlotKeys slot, OwnerId owner, CountingSessions durable) {
    SessionId inRedis = OwnKey.session(redis, slot, owner);
    boolean isKnown =
        inRedis != null
            && (CountingSessions.counts(durable, inRedis) || inRedis.isNewerThan(durable.newest()));
    if (isKnown && OwnKey.isClosed(redis, slot, owner)) {
      return null;
    }
    SessionId session = isKnown ? durable.holder(inRedis) : durable.lastOpen();
    if (session == null) {
      return null;
    }
    if (NodeSigns.process(session).equals(process)) {
      return isOpenHere.test(owner, session) ? new Holder(session, "on this node") : null;
    }
    String sign = NodeSigns.sign(redis, namespace, NodeSigns.process(session));
    if (sign != null && (isKnown || sign.endsWith(NodeSigns.UNHEALED))) {
      return new Holder(session, "on node " + NodeSigns.name(sign) + ", which is alive");
    }
    // Its node may have had no chance to tell this server of itself, or of the session.
    long millis = NodeSigns.unbrokenMillis(redis, namespace);
    return millis >= NodeSigns.LIFE_SECONDS * 1_000L
        ? null
        : new Holder(
            session,
            String.format(
                Locale.ROOT,
                "on a node that may be alive: Redis can tell in %.1f s",
                NodeSigns.LIFE_SECONDS - millis / 1000.0));
  }

  /** Asks the node that has an owner open to close it; nobody may be listening. */
  public void ask(ControlConnection redis, OwnerId owner, SessionId session) {
    byte[] channel = SlotKeys.bytes(SlotKeys.sessionChannel(namespace, NodeSigns.process(session)));
    byte[] line = SlotKeys.bytes("asked " + owner.encoded() + " " + session.text());
    long unused =
        redis.call(connection -> RedisReply.await(() -> connection.sync().publish(channel, line)));
  }

  /**
   * The session under which an owner is open; null when it was closed, or Redis knows of none.
   *
   * @param durable the owner's sessions in MySQL
   */
  public static @Nullable SessionId session(
      RedisConnection redis, SlotKeys slot, OwnerId owner, CountingSessions durable) {
    SessionId inRedis = OwnKey.session(redis, slot, owner);
    return inRedis == null || OwnKey.isClosed(redis, slot, owner) ? null : durable.holder(inRedis);
  }
}
