package io.gameq.redis.script;

import io.gameq.redis.ControlConnection;
import io.gameq.redis.ControlConnection.RedisConnection;
import io.gameq.redis.RedisClock;
import io.gameq.redis.RedisReply;
import io.gameq.redis.script.OpenOwners.NodeSigns;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;

/**
 * {@code beat.lua}: gives the signs of life of one node process, whose answers tell when Redis'
 * clock was set. Thread-safe; see {@link NodeSigns}.
 */
public final class NodeHeartbeat {
  private static final LuaScript SCRIPT = LuaScript.of(NodeHeartbeat.class, "beat.lua");
  private static final long BEAT_EVERY_NANOS = TimeUnit.SECONDS.toNanos(3);

  private final String namespace;
  private final byte[] key;
  private final String node;
  private final RedisClock clock;
  private volatile long beatNanos = System.nanoTime() - BEAT_EVERY_NANOS;
  private volatile boolean hasBegun;

  /** The server on which this node healed last, by its run id. */
  private String beganOn = "";

  /** Of a process; {@code clock} is told of the time of Redis. */
  public NodeHeartbeat(String namespace, String process, String node, RedisClock clock) {
    this.namespace = namespace;
    this.key = NodeSigns.key(namespace, process);
    this.node = node;
    this.clock = clock;
  }

  /**
   * Gives a sign of life, if the last one is not fresh; to be called every second or so.
   *
   * @param hasHealedOn whether this node has healed on a server, by its run id
   * @return whether the one before was gone. Then Redis has lost more than that, if no connection
   *     broke meanwhile: somebody emptied it. (Or this process stood still for {@link
   *     NodeSigns#LIFE_SECONDS}: then to heal is harmless.)
   */
  public boolean beat(ControlConnection redis, Predicate<String> hasHealedOn) {
    if (System.nanoTime() - beatNanos < BEAT_EVERY_NANOS) {
      return false;
    }
    ControlConnection.Connected to = redis.connected();
    return redis.call(to.redis(), connection -> beatNow(connection, hasHealedOn.test(to.runId())));
  }

  /**
   * Gives a sign of life to a server on which this node is about to heal, so that a later one that
   * is gone was lost since.
   *
   * @param server its run id
   */
  public void beatFirst(RedisConnection redis, String server) {
    boolean gone = beatNow(redis, false);
    if (gone || !server.equals(beganOn)) { // what others lost here shows from now on
      RedisReply.await(() -> redis.sync().del(NodeSigns.unbrokenKey(namespace)));
      long unused = NodeSigns.unbrokenMillis(redis, namespace);
    }
    beganOn = server;
  }

  private boolean beatNow(RedisConnection redis, boolean hasHealed) {
    long askedNanos = System.nanoTime();
    List<Object> was = beat(redis, key, hasHealed ? node : node + NodeSigns.UNHEALED);
    clock.saw((Long) was.get(1), askedNanos);
    long unused = NodeSigns.unbrokenMillis(redis, namespace);
    boolean gone = hasBegun && (Long) was.get(0) == 0;
    beatNanos = System.nanoTime();
    hasBegun = true;
    return gone;
  }

  static List<Object> beat(RedisConnection redis, byte[] key, String sign) {
    return SCRIPT.call(redis, key, sign, NodeSigns.LIFE_SECONDS);
  }

  /** Says that this node is gone. */
  public void stop(ControlConnection redis) {
    redis.call(connection -> RedisReply.await(() -> connection.sync().del(key)));
  }
}
