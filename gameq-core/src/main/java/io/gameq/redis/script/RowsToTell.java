package io.gameq.redis.script;

import io.gameq.redis.RedisConnection;
import io.gameq.redis.RedisReply;
import io.gameq.redis.SlotKeys;
import io.gameq.rows.EncodedRow;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/**
 * What a node's sessions are to be told of rows that others sent to their owners, as {@code
 * inbox.lua} notes it; {@code sent.lua}: the rows, as long as they wait. Stateless.
 */
public final class RowsToTell {
  /** As {@code inbox.lua} keeps them for a node that does not look. */
  private static final long KEPT_MILLIS = 3_600_000;

  private static final LuaScript ROWS = LuaScript.of(RowsToTell.class, "sent.lua");

  /** In one call of the script. */
  private static final int MOST_AT_ONCE = 200;

  private RowsToTell() {}

  /**
   * A row for a session.
   *
   * @param field names it among the others
   * @param owner encoded
   * @param key of the row
   * @param sender names the process of the node that sent it
   * @param isAgain whether the session may have been told, and may have changed the row since
   */
  public record OfSession(
      byte[] field,
      String owner,
      String session,
      String key,
      long version,
      String sender,
      boolean isAgain) {
    private static final int VERSION_ENDS = 17;

    public String name() {
      return LuaScript.string(field);
    }

    private String inbox() {
      return owner + "!" + sender;
    }

    /** Null when somebody else wrote there. */
    private static @Nullable OfSession parse(byte[] field, byte[] value) {
      String[] words = LuaScript.string(field).split(" ", 3);
      String text = LuaScript.string(value);
      if (words.length < 3 || text.length() <= VERSION_ENDS) {
        return null;
      }
      try {
        return new OfSession(
            field,
            words[0],
            words[1],
            words[2],
            Long.parseUnsignedLong(text.substring(1, VERSION_ENDS), 16),
            text.substring(VERSION_ENDS),
            text.charAt(0) == '1');
      } catch (NumberFormatException e) {
        return null;
      }
    }
  }

  /** Which of these slots have any for the sessions of a node, by the id of its process. */
  public static Set<Integer> slotsWithAny(
      RedisConnection redis, List<SlotKeys> slots, String process) {
    Map<Integer, CompletionStage<Long>> asked = new HashMap<>();
    slots.forEach(of -> asked.put(of.slot(), redis.async().exists(of.sent(process))));
    asked.values().removeIf(exists -> RedisReply.await(exists) == 0);
    return asked.keySet();
  }

  /** All of a slot for the sessions of a node, by the id of its process. */
  public static List<OfSession> read(RedisConnection redis, SlotKeys slot, String process) {
    Map<byte[], byte[]> all = RedisReply.await(() -> redis.sync().hgetall(slot.sent(process)));
    return all.entrySet().stream()
        .map(of -> OfSession.parse(of.getKey(), of.getValue()))
        .filter(Objects::nonNull)
        .toList();
  }

  /**
   * Those of these rows that wait to be flushed, as they wait. The others are in MySQL by now, or
   * were refused.
   *
   * @throws io.gameq.RedisUnavailableException when Redis does not answer
   */
  public static List<EncodedRow> waiting(
      RedisConnection redis, SlotKeys slot, List<OfSession> rows) {
    List<EncodedRow> waiting = new ArrayList<>();
    for (List<OfSession> some : LuaScript.pieces(rows, MOST_AT_ONCE)) {
      List<Object> reply =
          ROWS.call(redis, slot, some.stream().map(of -> List.of(of.inbox(), of.key())).toList());
      for (int i = 0; i < some.size(); i++) {
        byte[] row = (byte[]) reply.get(i);
        if (row.length > 0) {
          waiting.add(new EncodedRow(some.get(i).key(), row));
        }
      }
    }
    return waiting;
  }

  /** They were told of these, or need not be; the others are kept for as long again. */
  public static void forget(
      RedisConnection redis, SlotKeys slot, String process, Collection<OfSession> told) {
    byte[][] fields = told.stream().map(OfSession::field).toArray(byte[][]::new);
    if (fields.length > 0) {
      long unusedCount = RedisReply.await(() -> redis.sync().hdel(slot.sent(process), fields));
    }
    boolean unused = RedisReply.await(() -> redis.sync().pexpire(slot.sent(process), KEPT_MILLIS));
  }
}
