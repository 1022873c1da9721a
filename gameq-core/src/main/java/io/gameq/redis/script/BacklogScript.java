package io.gameq.redis.script;

import static io.gameq.redis.script.LuaScript.utf8;

import io.gameq.redis.RedisConnection;
import io.gameq.redis.SlotKeys;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * {@code backlog.lua} and {@code publish.lua}: one look at what waits, or who runs, for all nodes
 * and writers of a namespace. Stateless.
 */
public final class BacklogScript {
  private static final LuaScript ASK = LuaScript.of(BacklogScript.class, "backlog.lua");
  private static final LuaScript PUBLISH = LuaScript.of(BacklogScript.class, "publish.lua");

  /** A look takes some milliseconds; when who looks dies, somebody else does so after this. */
  private static final String LOOK_MILLIS = "10000";

  /** Long enough that a pause of everybody shows as age; what nobody asks for does not stay. */
  private static final String LIFE_MILLIS = "60000";

  private BacklogScript() {}

  /**
   * What was published.
   *
   * @param ageMillis -1 when there is nothing
   * @param at names it; empty when there is nothing
   * @param text empty when there is nothing, or the caller has it
   * @param isToLook whether the caller is to look, and to {@link #publish} what it sees
   */
  public record Asked(long ageMillis, String at, String text, boolean isToLook) {}

  /**
   * Asks for a text of the latest look.
   *
   * @param key under which the look is published, in the namespace
   * @param text which of its texts
   * @param at of the one that the caller has, or empty
   * @param oldMillis from which age on the caller looks itself, unless somebody else does
   * @throws io.gameq.RedisUnavailableException when Redis does not answer
   */
  public static Asked ask(
      RedisConnection redis, String namespace, String key, String text, String at, long oldMillis) {
    List<Object> reply =
        ASK.call(redis, key(namespace, key), oldMillis, LOOK_MILLIS, text, at, LIFE_MILLIS);
    return new Asked(
        (Long) reply.get(0),
        LuaScript.string(reply.get(1)),
        new String((byte[]) reply.get(2), StandardCharsets.UTF_8),
        (Long) reply.get(3) == 1);
  }

  /**
   * Publishes texts of a look by their names; returns what names it. Throws as {@link #ask}.
   *
   * @param texts a few
   */
  public static String publish(
      RedisConnection redis, String namespace, String key, Map<String, String> texts) {
    List<byte[]> args = new ArrayList<>();
    texts.forEach((name, text) -> args.addAll(List.of(utf8(name), utf8(text))));
    return LuaScript.string(PUBLISH.call(redis, key(namespace, key), LIFE_MILLIS, args).get(0));
  }

  private static byte[] key(String namespace, String key) {
    return SlotKeys.bytes(namespace + ":" + key);
  }
}
