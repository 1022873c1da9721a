package io.gameq.redis.script;

import io.gameq.GameQueueException;
import io.gameq.RedisUnavailableException;
import io.gameq.owner.OwnerId;
import io.gameq.owner.SessionId;
import io.gameq.owner.SessionRef;
import io.gameq.redis.RedisConnection;
import io.gameq.redis.RedisReply;
import io.gameq.redis.SessionKeys;
import io.gameq.redis.SlotKeys;
import io.gameq.redis.UnflushedRow;
import io.lettuce.core.ZAddArgs;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletionStage;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The small scripts around a session: read.lua, reassert.lua, healed.lua, close.lua, pending.lua.
 * Stateless.
 */
public final class SessionScripts {
  private static final LuaScript READ = LuaScript.of(SessionScripts.class, "read.lua");
  private static final LuaScript REASSERT = LuaScript.of(SessionScripts.class, "reassert.lua");
  private static final LuaScript HEALED = LuaScript.of(SessionScripts.class, "healed.lua");
  private static final LuaScript CLOSE = LuaScript.of(SessionScripts.class, "close.lua");
  private static final LuaScript PENDING = LuaScript.of(SessionScripts.class, "pending.lua");

  /**
   * How long the own key outlives a closed session. It must exceed any pause between reading a
   * session in MySQL and re-asserting it in Redis, so that a late re-assert of an older session is
   * still refused.
   */
  public static final long OWN_KEPT_MILLIS = 3_600_000;

  /** A ZADD holds Redis for as long as it takes. */
  private static final int DUE_AT_ONCE = 500;

  /** A script holds Redis for as long as it takes. */
  private static final int HEALED_AT_ONCE = 500;

  /** The same; rows of an owner with few, as most are, are one call. */
  private static final int PUT_BACK_AT_ONCE = 500;

  private static final int PUT_BACK_BYTES_AT_ONCE = 4 << 20;

  private static final Logger LOG = LoggerFactory.getLogger(SessionScripts.class);

  private SessionScripts() {}

  /** Everything of an owner that is not flushed, dirty and claimed, in no order. */
  public static List<UnflushedRow> read(RedisConnection redis, SlotKeys slot, OwnerId owner) {
    List<Object> reply = READ.call(redis, slot, List.of(owner.encoded()));
    List<UnflushedRow> rows = new ArrayList<>(OpenScript.rows(reply.get(0)));
    rows.addAll(OpenScript.rows(reply.get(1)));
    return rows;
  }

  /** The session that owns as far as Redis knows, if it knows of one. */
  public static @Nullable SessionId ownedBy(RedisConnection redis, SlotKeys slot, OwnerId owner) {
    byte[] own = RedisReply.await(() -> redis.sync().get(slot.own(owner)));
    return own == null ? null : SessionId.parse(LuaScript.string(own));
  }

  /**
   * Whether the session owns now; false when a newer one does. The caller has read in MySQL that
   * this session owns.
   */
  public static boolean reassert(
      RedisConnection redis, SlotKeys slot, OwnerId owner, SessionId session) {
    return (Long) REASSERT.call(redis, slot, List.of(owner.encoded(), session.text())).get(0) == 1;
  }

  /**
   * {@link #reassert(StatefulRedisConnection, SlotKeys, OwnerId, SessionId)} for many at once, over
   * a connection that flushes by itself; whether each owns now.
   */
  public static boolean[] reassert(
      RedisConnection redis, SlotKeys[] slots, List<SessionRef> sessions) {
    REASSERT.load(redis);
    List<CompletionStage<List<Object>>> replies = new ArrayList<>(sessions.size());
    for (SessionRef session : sessions) {
      byte[][] keys = {SlotKeys.bytes(slots[session.slot()].prefix())};
      replies.add(
          REASSERT.send(
              redis,
              keys,
              SlotKeys.bytes(session.owner().encoded()),
              SlotKeys.bytes(session.id().text())));
    }
    boolean[] owns = new boolean[replies.size()];
    for (int i = 0; i < owns.length; i++) {
      owns[i] = isAccepted(replies.get(i), sessions.get(i));
    }
    return owns;
  }

  /**
   * Everything of these sessions, which own, that Redis had lost is in it again; over a connection
   * that flushes by itself.
   */
  public static void healed(RedisConnection redis, SlotKeys[] slots, List<SessionRef> sessions) {
    Map<Integer, List<SessionRef>> bySlot =
        sessions.stream().collect(Collectors.groupingBy(SessionRef::slot));
    HEALED.load(redis);
    List<CompletionStage<List<Object>>> replies = new ArrayList<>();
    bySlot.forEach(
        (slot, all) -> {
          byte[][] keys = {SlotKeys.bytes(slots[slot].prefix())};
          for (int from = 0; from < all.size(); from += HEALED_AT_ONCE) {
            replies.add(
                HEALED.send(
                    redis,
                    keys,
                    all.subList(from, Math.min(all.size(), from + HEALED_AT_ONCE)).stream()
                        .flatMap(of -> Stream.of(of.owner().encoded(), of.text()))
                        .map(SlotKeys::bytes)
                        .toArray(byte[][]::new)));
          }
        });
    replies.forEach(RedisReply::await);
  }

  /**
   * Puts rows that Redis lost back under a session, due at once, never over a newer row. Not a
   * commit: no journal mark moves on. Where another session owns, nothing is written.
   */
  public static void putBack(
      RedisConnection redis,
      SlotKeys slot,
      SessionRef session,
      String walId,
      List<UnflushedRow> rows) {
    SessionKeys keys = new SessionKeys(slot, session);
    List<byte[]> some = new ArrayList<>();
    long bytes = 0;
    for (UnflushedRow row : rows) {
      if (some.size() == 2 * PUT_BACK_AT_ONCE
          || (!some.isEmpty() && bytes + row.image().length > PUT_BACK_BYTES_AT_ONCE)) {
        putBack(redis, keys, walId, some);
        some.clear();
        bytes = 0;
      }
      some.add(SlotKeys.bytes(row.key()));
      some.add(row.image());
      bytes += row.image().length;
    }
    putBack(redis, keys, walId, some);
  }

  private static void putBack(
      RedisConnection redis, SessionKeys keys, String walId, List<byte[]> rows) {
    List<Object> unused =
        RedisReply.await(
            CommitScript.sendText(
                redis,
                new CommitScript.Arguments(
                    SlotKeys.bytes(walId),
                    0,
                    0,
                    List.of(new CommitScript.Part(keys, List.copyOf(rows))))));
  }

  private static boolean isAccepted(CompletionStage<List<Object>> sent, SessionRef session) {
    try {
      return (Long) RedisReply.await(sent).get(0) == 1;
    } catch (RedisUnavailableException e) {
      throw e;
    } catch (GameQueueException e) { // its own key only: the others are to be healed
      LOG.error("cannot tell Redis that session {} owns: {}", session, e.getMessage());
      return true;
    }
  }

  /**
   * Makes what sessions have dirty due now instead of at the end of their merge windows; over a
   * connection that flushes by itself.
   */
  public static void flushNow(RedisConnection redis, SlotKeys[] slots, List<SessionRef> sessions) {
    Map<Integer, List<SessionRef>> bySlot =
        sessions.stream().collect(Collectors.groupingBy(SessionRef::slot));
    List<CompletionStage<Long>> replies = new ArrayList<>();
    bySlot.forEach(
        (slot, all) -> {
          for (int from = 0; from < all.size(); from += DUE_AT_ONCE) {
            List<SessionRef> some = all.subList(from, Math.min(all.size(), from + DUE_AT_ONCE));
            replies.add(
                redis
                    .async()
                    .zadd(
                        slots[slot].due(),
                        ZAddArgs.Builder.xx().lt(),
                        some.stream().flatMap(of -> Stream.of(0d, member(of))).toArray()));
          }
        });
    replies.forEach(RedisReply::await);
  }

  private static byte[] member(SessionRef session) {
    return SlotKeys.bytes(session.owner().encoded() + ":" + session.text());
  }

  /** Ends a session; false when another session owns. See {@code close.lua}. */
  public static boolean close(
      RedisConnection redis, SlotKeys slot, OwnerId owner, SessionId session) {
    String kept = Long.toString(OWN_KEPT_MILLIS);
    return (Long) CLOSE.call(redis, slot, List.of(owner.encoded(), session.text(), kept)).get(0)
        == 1;
  }

  /** Removes the journal mark of a WAL; false when the slot had none. */
  public static boolean forgetJournal(RedisConnection redis, SlotKeys slot, String walId) {
    return RedisReply.await(() -> redis.sync().hdel(slot.journal(), SlotKeys.bytes(walId))) > 0;
  }

  /**
   * Whether Redis holds nothing of a session, dirty or claimed, as far as it knows. Of a session
   * that no longer owns it knows nothing: its rows were adopted, flushed or parked, so only MySQL
   * can tell, and this returns true.
   */
  public static boolean holdsNothing(
      RedisConnection redis, SlotKeys slot, OwnerId owner, SessionId session) {
    List<Object> reply = PENDING.call(redis, slot, List.of(owner.encoded(), session.text()));
    return !LuaScript.string(reply.get(0)).equals(session.text()) || (Long) reply.get(1) == 0;
  }
}
