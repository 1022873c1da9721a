package io.gameq.redis.script;

import io.gameq.GameQueueException;
import io.gameq.RedisUnavailableException;
import io.gameq.owner.OwnerId;
import io.gameq.owner.SessionId;
import io.gameq.owner.SessionRef;
import io.gameq.redis.RedisConnection;
import io.gameq.redis.RedisReply;
import io.gameq.redis.SlotKeys;
import io.gameq.redis.script.LuaScript.Call;
import io.gameq.rows.EncodedRow;
import io.lettuce.core.KeyValue;
import io.lettuce.core.ZAddArgs;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletionStage;
import java.util.function.BiConsumer;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Which session owns, as far as Redis knows: {@code open.lua} begins one, {@code reassert.lua}
 * tells Redis again, {@code healed.lua} that what it lost is there again, and {@code close.lua}
 * ends one. Stateless.
 */
public final class SessionScripts {
  /**
   * How long the own key outlives a closed session. It must exceed any pause between reading a
   * session in MySQL and re-asserting it in Redis, so that a late re-assert of an older session is
   * still refused.
   */
  public static final long KEPT_MILLIS = 3_600_000;

  /** A command or a script holds Redis for as long as it takes. */
  private static final int AT_ONCE = 500;

  private static final Logger LOG = LoggerFactory.getLogger(SessionScripts.class);
  private static final LuaScript HEALED = LuaScript.of(SessionScripts.class, "healed.lua");
  private static final LuaScript REASSERT =
      LuaScript.of(SessionScripts.class, "inbox.lua", "reassert.lua");
  private static final LuaScript CLOSE = LuaScript.of(SessionScripts.class, "close.lua");

  public static final LuaScript OPEN = LuaScript.of(SessionScripts.class, "inbox.lua", "open.lua");

  /** In the year 2286: what is subtracted from a time until then leaves less than 0. */
  private static final long FAR_MILLIS = 10_000_000_000_000L;

  private SessionScripts() {}

  /** What became of an open. */
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
   *     counts as still to come, until {@link #healed} says that it was put back
   */
  public static Outcome open(
      RedisConnection redis,
      SlotKeys slot,
      OwnerId owner,
      SessionId session,
      long mergeWindowMillis,
      boolean isMoreToCome) {
    List<Object> reply = OPEN.call(redis, slot, owner, session, mergeWindowMillis, isMoreToCome);
    if ((Long) reply.get(0) == 0) {
      return new Refused(SessionId.parse(LuaScript.string(reply.get(1))));
    }
    return new Opened(
        LuaScript.rows(reply.get(1)), LuaScript.rows(reply.get(2)), LuaScript.rows(reply.get(3)));
  }

  /** Ends a session; false when another session owns: then nothing was changed. */
  public static boolean close(
      RedisConnection redis, SlotKeys slot, OwnerId owner, SessionId session) {
    return (Long) CLOSE.call(redis, slot, owner, session, KEPT_MILLIS).get(0) == 1;
  }

  /** The session that owns as far as Redis knows, if it knows of one. */
  public static @Nullable SessionId session(RedisConnection redis, SlotKeys slot, OwnerId owner) {
    byte[] own = RedisReply.await(() -> redis.sync().get(slot.own(owner)));
    return own == null ? null : SessionId.parse(LuaScript.string(own));
  }

  /** Those of several owners of a slot, as far as Redis knows. Skips keys that are damaged. */
  public static Map<OwnerId, SessionId> sessions(
      RedisConnection redis, SlotKeys slot, List<OwnerId> owners) {
    Map<OwnerId, SessionId> known = new HashMap<>();
    for (List<OwnerId> some : LuaScript.pieces(owners, AT_ONCE)) {
      byte[][] keys = some.stream().map(slot::own).toArray(byte[][]::new);
      List<KeyValue<byte[], byte[]>> owns = RedisReply.await(() -> redis.sync().mget(keys));
      for (int i = 0; i < keys.length; i++) {
        if (owns.get(i).hasValue()) {
          try {
            String own = LuaScript.string(owns.get(i).getValue());
            known.put(some.get(i), SessionId.parse(own));
          } catch (GameQueueException e) {
            // somebody else wrote there: it tells nothing of this owner, and holds up no other
          }
        }
      }
    }
    return known;
  }

  /** Whether the session that owns was closed. */
  static boolean isClosed(RedisConnection redis, SlotKeys slot, OwnerId owner) {
    return RedisReply.await(
        () ->
            redis.sync().pttl(slot.own(owner)) >= 0
                || redis.sync().sismember(slot.closing(), SlotKeys.bytes(owner.encoded())));
  }

  /**
   * Tells Redis again which session owns, as the caller has read it in MySQL. Returns whether it
   * owns now; false when a newer one does.
   */
  public static boolean reassert(
      RedisConnection redis, SlotKeys slot, OwnerId owner, SessionId session) {
    return isAccepted(REASSERT.call(redis, slot, owner, session, true));
  }

  /** The same of a session that nobody has, so that the one before it owns no more. */
  public static void fence(RedisConnection redis, SlotKeys slot, OwnerId owner, SessionId session) {
    REASSERT.call(redis, slot, owner, session, false);
  }

  /** The same for many, over a connection that flushes by itself; whether each owns now. */
  public static boolean[] reassertAll(
      RedisConnection redis, SlotKeys[] slots, List<SessionRef> sessions) {
    List<CompletionStage<List<Object>>> replies =
        REASSERT.loadAndSend(
            redis,
            sessions.stream()
                .map(of -> new Call(slots[of.slot()], List.of(of.owner(), of.id(), true)))
                .toList());
    boolean[] owns = new boolean[replies.size()];
    for (int i = 0; i < owns.length; i++) {
      try {
        owns[i] = isAccepted(RedisReply.await(replies.get(i)));
      } catch (RedisUnavailableException e) {
        throw e;
      } catch (GameQueueException e) { // its own key only: the others are to be healed
        LOG.error("cannot tell Redis that session {} owns: {}", sessions.get(i), e.getMessage());
        owns[i] = true;
      }
    }
    return owns;
  }

  private static boolean isAccepted(List<Object> reply) {
    return (Long) reply.get(0) == 1;
  }

  /**
   * Says that what Redis had lost of sessions which own is in it again; over a connection that
   * flushes by itself.
   */
  public static void healed(RedisConnection redis, SlotKeys[] slots, List<SessionRef> sessions) {
    List<Call> calls = new ArrayList<>();
    eachOf(
        sessions,
        (slot, some) ->
            calls.add(
                new Call(
                    slots[slot],
                    some.stream().map(of -> List.of(of.owner(), of.text())).toList())));
    HEALED.loadAndSend(redis, calls).forEach(RedisReply::await);
  }

  /**
   * Makes what sessions have dirty due now instead of at the end of their merge windows; over a
   * connection that flushes by itself.
   */
  public static void flushNow(RedisConnection redis, SlotKeys[] slots, List<SessionRef> sessions) {
    List<CompletionStage<Long>> replies = new ArrayList<>();
    eachOf(
        sessions,
        (slot, some) -> {
          Object[] urgent = some.stream().flatMap(of -> Stream.of(0d, member(of))).toArray();
          replies.add(redis.async().zadd(slots[slot].due(), ZAddArgs.Builder.xx().lt(), urgent));
        });
    replies.forEach(RedisReply::await);
  }

  /** Sessions of one slot, as many as a command takes. */
  private static void eachOf(
      List<SessionRef> sessions, BiConsumer<Integer, List<SessionRef>> command) {
    sessions.stream()
        .collect(Collectors.groupingBy(SessionRef::slot))
        .forEach(
            (slot, all) ->
                LuaScript.pieces(all, AT_ONCE).forEach(some -> command.accept(slot, some)));
  }

  private static byte[] member(SessionRef session) {
    return SlotKeys.bytes(session.owner().encoded() + ":" + session.text());
  }

  /** The score in {@code due} of what would be due at a time, were it not urgent: below 0. */
  static long urgent(long dueMillis) {
    return dueMillis - FAR_MILLIS;
  }

  /**
   * What a node's sessions are to be told of rows that others sent to their owners, as {@code
   * inbox.lua} notes it; {@code sent.lua}: the rows, as long as they wait. Stateless.
   */
  public static final class RowNotices {
    /** As {@code inbox.lua} keeps them for a node that does not look. */
    private static final long KEPT_MILLIS = 3_600_000;

    private static final LuaScript ROWS = LuaScript.of(RowNotices.class, "sent.lua");

    /** In one call of the script. */
    private static final int MOST_AT_ONCE = 200;

    private RowNotices() {}

    /**
     * A row for a session.
     *
     * @param field names it among the others
     * @param owner encoded
     * @param key of the row
     * @param sender names the process of the node that sent it
     * @param isAgain whether the session may have been told, and may have changed the row since
     */
    public record SessionRow(
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
      private static @Nullable SessionRow parse(byte[] field, byte[] value) {
        String[] words = LuaScript.string(field).split(" ", 3);
        String text = LuaScript.string(value);
        if (words.length < 3 || text.length() <= VERSION_ENDS) {
          return null;
        }
        try {
          return new SessionRow(
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
    public static List<SessionRow> read(RedisConnection redis, SlotKeys slot, String process) {
      Map<byte[], byte[]> all = RedisReply.await(() -> redis.sync().hgetall(slot.sent(process)));
      return all.entrySet().stream()
          .map(of -> SessionRow.parse(of.getKey(), of.getValue()))
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
        RedisConnection redis, SlotKeys slot, List<SessionRow> rows) {
      List<EncodedRow> waiting = new ArrayList<>();
      for (List<SessionRow> some : LuaScript.pieces(rows, MOST_AT_ONCE)) {
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
        RedisConnection redis, SlotKeys slot, String process, Collection<SessionRow> told) {
      byte[][] fields = told.stream().map(SessionRow::field).toArray(byte[][]::new);
      if (fields.length > 0) {
        long unusedCount = RedisReply.await(() -> redis.sync().hdel(slot.sent(process), fields));
      }
      boolean unused =
          RedisReply.await(() -> redis.sync().pexpire(slot.sent(process), KEPT_MILLIS));
    }
  }
}
