package io.gameq.redis.script;

import static java.nio.charset.StandardCharsets.US_ASCII;

import io.gameq.owner.SessionId;
import io.gameq.redis.RedisConnection;
import io.gameq.redis.RedisReply;
import io.gameq.redis.SlotKeys;
import org.jspecify.annotations.Nullable;

/**
 * The signs of life that node processes give: {@code ns:node:<process>}, under the first 8 hex
 * digits of the nonces of their sessions. Plain commands. Stateless.
 */
public final class NodeSigns {
  /** A node that gave no sign for so long counts as gone. */
  public static final int LIFE_SECONDS = 15;

  /**
   * Follows the name of a node that has not healed on this server, which may not know its sessions.
   */
  static final String UNHEALED = "?";

  private static final int PROCESS_DIGITS = 8;

  private static final LuaScript UNBROKEN = LuaScript.of(NodeSigns.class, "unbroken.lua");

  /** A longer pause is a break. */
  private static final long BREAK_MILLIS = LIFE_SECONDS * 1_000L / 2;

  private NodeSigns() {}

  /** The id of the process that a session is of. */
  public static String process(SessionId session) {
    return session.nonce().substring(0, PROCESS_DIGITS);
  }

  /** The id of the process that a WAL is of. */
  public static String processOfWal(String walId) {
    return walId.substring(Math.max(0, walId.length() - PROCESS_DIGITS));
  }

  /** The name of the node of which this process (8 hex digits) is alive, or null. */
  public static @Nullable String aliveNode(
      RedisConnection redis, String namespace, String process) {
    String sign = sign(redis, namespace, process);
    return sign == null ? null : name(sign);
  }

  /**
   * Whether some node has given a sign of life a moment ago. Throws RedisUnavailableException when
   * Redis does not answer.
   */
  public static boolean anyLately(RedisConnection redis, String namespace) {
    return RedisReply.await(() -> redis.sync().exists(unbrokenKey(namespace))) > 0;
  }

  /**
   * For how long nodes have given signs of life here without a break, ms; to be called with each.
   */
  static long unbrokenMillis(RedisConnection redis, String namespace) {
    return (Long) UNBROKEN.call(redis, unbrokenKey(namespace), BREAK_MILLIS).get(0);
  }

  static byte[] unbrokenKey(String namespace) {
    return SlotKeys.bytes(namespace + ":nodes");
  }

  /** The sign of a process, which is its node's name and perhaps {@link #UNHEALED}; or null. */
  static @Nullable String sign(RedisConnection redis, String namespace, String process) {
    byte[] sign = RedisReply.await(() -> redis.sync().get(key(namespace, process)));
    return sign == null ? null : new String(sign, US_ASCII);
  }

  static String name(String sign) {
    return sign.endsWith(UNHEALED) ? sign.substring(0, sign.length() - UNHEALED.length()) : sign;
  }

  static byte[] key(String namespace, String process) {
    return SlotKeys.bytes(namespace + ":node:" + process);
  }
}
