package io.gameq.redis.script;

import static java.nio.charset.StandardCharsets.US_ASCII;

import io.gameq.owner.CountingSessions;
import io.gameq.owner.OwnerId;
import io.gameq.owner.SessionId;
import io.gameq.redis.ControlConnection;
import io.gameq.redis.RedisConnection;
import io.gameq.redis.RedisReply;
import io.gameq.redis.SlotKeys;
import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.api.sync.RedisCommands;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * {@code ns:node:<process>}: a node process that is alive, under the first 8 hex digits of the
 * nonces of its sessions. Thread-safe.
 */
public final class NodeHeartbeat {
  /** A node that gave no sign for so long counts as gone. */
  public static final int LIFE_SECONDS = 15;

  /**
   * Returns whether the last sign of life was still there. The DEL that tells makes the script run
   * at maxmemory too: a full Redis does not make nodes look dead.
   */
  private static final byte[] BEAT =
      SlotKeys.bytes(
          "local was = redis.call('DEL', KEYS[1]) redis.call('SET', KEYS[1], ARGV[1], 'EX',"
              + " ARGV[2]) return was");

  /**
   * Says for how long nodes have given signs of life here without a break, ms: a break is longer
   * than half of {@link #LIFE_SECONDS}.
   */
  private static final byte[] WITHOUT_A_BREAK =
      SlotKeys.bytes(
          "local time = redis.call('TIME') local now = time[1] * 1000 + math.floor(time[2] / 1000)"
              + " local since = math.min(now, tonumber(redis.call('GET', KEYS[1])) or now)"
              + " redis.call('DEL', KEYS[1]) redis.call('SET', KEYS[1], since, 'PX', ARGV[1])"
              + " return now - since");

  /**
   * Follows the name of a node that has not healed on this server, which may not know its sessions.
   */
  private static final String UNHEALED = "?";

  private static final int PROCESS_DIGITS = 8;

  private static final long BEAT_EVERY_NANOS = TimeUnit.SECONDS.toNanos(3);

  private final String namespace;
  private final String process;
  private final String node;
  private volatile long beatNanos = System.nanoTime() - BEAT_EVERY_NANOS;
  private volatile boolean hasBegun;

  /** The server on which this node healed last, by its run id. */
  private String beganOn = "";

  public NodeHeartbeat(String namespace, String process, String node) {
    this.namespace = namespace;
    this.process = process;
    this.node = node;
  }

  /**
   * Gives a sign of life, if the last one is not fresh; to be called every second or so.
   *
   * @param hasHealedOn whether this node has healed on a server, by its run id
   * @return whether the one before was gone. Then Redis has lost more than that, if no connection
   *     broke meanwhile: somebody emptied it. (Or this process stood still for {@link
   *     #LIFE_SECONDS}: then to heal is harmless.)
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
      RedisReply.await(() -> redis.sync().del(signs()));
      long unused = withoutABreak(redis);
    }
    beganOn = server;
  }

  private boolean beatNow(RedisConnection redis, boolean hasHealed) {
    Long was =
        RedisReply.await(
            () ->
                redis
                    .sync()
                    .<Long>eval(
                        BEAT,
                        ScriptOutputType.INTEGER,
                        new byte[][] {key(process)},
                        SlotKeys.bytes(hasHealed ? node : node + UNHEALED),
                        SlotKeys.bytes(Integer.toString(LIFE_SECONDS))));
    long unused = withoutABreak(redis);
    boolean gone = hasBegun && was == 0;
    beatNanos = System.nanoTime();
    hasBegun = true;
    return gone;
  }

  /** Says that this node is gone. */
  public void stop(ControlConnection redis) {
    redis.call(connection -> RedisReply.await(() -> connection.sync().del(key(process))));
  }

  private long withoutABreak(RedisConnection redis) {
    return RedisReply.await(
        () ->
            redis
                .sync()
                .<Long>eval(
                    WITHOUT_A_BREAK,
                    ScriptOutputType.INTEGER,
                    new byte[][] {signs()},
                    SlotKeys.bytes(Integer.toString(LIFE_SECONDS * 1_000 / 2))));
  }

  /**
   * Where an owner is open, if that is not here: on a node that is alive, or that may be alive
   * since Redis was away or failed over a moment ago. Null when this process has it open, the
   * session was closed, or its node has given no sign of life for {@link #LIFE_SECONDS} while Redis
   * took them. A session that Redis does not know counts as open while its node is alive and has
   * not healed, as when it cannot reach MySQL.
   */
  public @Nullable String elsewhere(
      ControlConnection redis, SlotKeys slot, OwnerId owner, CountingSessions durable) {
    return redis.call(
        connection -> {
          SessionId inRedis = SessionScripts.ownedBy(connection, slot, owner);
          boolean isKnown =
              inRedis != null
                  && (CountingSessions.counts(durable, inRedis)
                      || inRedis.isNewerThan(durable.newest()));
          if (isKnown && RedisReply.await(() -> isClosed(connection.sync(), slot, owner))) {
            return null;
          }
          SessionId session = isKnown ? durable.holder(inRedis) : durable.lastOpen();
          if (session == null || process(session).equals(process)) {
            return null;
          }
          String sign = sign(connection, namespace, process(session));
          if (sign != null && (isKnown || sign.endsWith(UNHEALED))) {
            return "on node " + name(sign) + ", which is alive";
          }
          // Its node may have had no chance to tell this server of itself, or of the session.
          long millis = withoutABreak(connection);
          return millis >= LIFE_SECONDS * 1_000L
              ? null
              : "on a node that may be alive: Redis can tell in %.1f s"
                  .formatted(LIFE_SECONDS - millis / 1000.0);
        });
  }

  /**
   * The session under which an owner is open; null when it was closed, or Redis knows of none.
   *
   * @param durable the owner's sessions in MySQL
   */
  public static @Nullable SessionId holder(
      RedisConnection redis, SlotKeys slot, OwnerId owner, CountingSessions durable) {
    SessionId inRedis = SessionScripts.ownedBy(redis, slot, owner);
    return inRedis == null || RedisReply.await(() -> isClosed(redis.sync(), slot, owner))
        ? null
        : durable.holder(inRedis);
  }

  private static boolean isClosed(
      RedisCommands<byte[], byte[]> redis, SlotKeys slot, OwnerId owner) {
    return redis.pttl(slot.own(owner)) >= 0
        || redis.sismember(slot.closing(), SlotKeys.bytes(owner.encoded()));
  }

  /** The id of the process that a session is of. */
  public static String process(SessionId session) {
    return session.nonce().substring(0, PROCESS_DIGITS);
  }

  /** The name of the node of which this process (8 hex digits) is alive, or null. */
  public static @Nullable String aliveNode(
      RedisConnection redis, String namespace, String process) {
    String sign = sign(redis, namespace, process);
    return sign == null ? null : name(sign);
  }

  private static @Nullable String sign(RedisConnection redis, String namespace, String process) {
    byte[] sign = RedisReply.await(() -> redis.sync().get(key(namespace, process)));
    return sign == null ? null : new String(sign, US_ASCII);
  }

  private static String name(String sign) {
    return sign.endsWith(UNHEALED) ? sign.substring(0, sign.length() - UNHEALED.length()) : sign;
  }

  private byte[] signs() {
    return SlotKeys.bytes(namespace + ":nodes");
  }

  private byte[] key(String ofProcess) {
    return key(namespace, ofProcess);
  }

  static byte[] key(String namespace, String ofProcess) {
    return SlotKeys.bytes(namespace + ":node:" + ofProcess);
  }
}
