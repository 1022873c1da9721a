package io.gameq.redis.script;

import io.gameq.owner.OwnerId;
import io.gameq.owner.SessionId;
import io.gameq.redis.RedisConnection;
import io.gameq.redis.SlotKeys;
import io.gameq.rows.EncodedRow;
import java.util.ArrayList;
import java.util.List;

/**
 * {@code open.lua}: makes a session the owner's, adopts, and returns what is unflushed. Stateless.
 */
public final class OpenScript {
  public static final LuaScript SCRIPT = LuaScript.of(OpenScript.class, "inbox.lua", "open.lua");

  private OpenScript() {}

  /** What open.lua answered. */
  public sealed interface Outcome {}

  /**
   * The session owns.
   *
   * @param dirty rows now under this session, adopted from the one before
   * @param claimed rows that a writer is flushing
   * @param sent rows that others sent to the owner, and that are not flushed
   */
  public record Opened(List<EncodedRow> dirty, List<EncodedRow> claimed, List<EncodedRow> sent)
      implements Outcome {}

  /** A newer session owns; nothing was changed. */
  public record Refused(SessionId ownedBy) implements Outcome {}

  /**
   * Opens the owner, or finishes the open of a node that is gone, or late.
   *
   * @param mergeWindowMillis until what is dirty is due
   * @param isMoreToCome whether what the session has adopted before, and Redis may have lost since,
   *     counts as still to come, until {@link OwnKey#healed} says that it was put back
   */
  public static Outcome call(
      RedisConnection redis,
      SlotKeys slot,
      OwnerId owner,
      SessionId session,
      long mergeWindowMillis,
      boolean isMoreToCome) {
    List<Object> reply = SCRIPT.call(redis, slot, owner, session, mergeWindowMillis, isMoreToCome);
    if ((Long) reply.get(0) == 0) {
      return new Refused(SessionId.parse(LuaScript.string(reply.get(1))));
    }
    return new Opened(rows(reply.get(1)), rows(reply.get(2)), rows(reply.get(3)));
  }

  /** Rows from a flat list of field, value, field, value ... */
  public static List<EncodedRow> rows(Object flat) {
    List<?> list = (List<?>) flat;
    List<EncodedRow> rows = new ArrayList<>(list.size() / 2);
    for (int i = 0; i < list.size(); i += 2) {
      rows.add(new EncodedRow(LuaScript.string(list.get(i)), (byte[]) list.get(i + 1)));
    }
    return rows;
  }
}
