package io.gameq.redis.script;

import io.gameq.GameQueueException;
import io.gameq.RedisUnavailableException;
import io.gameq.owner.DurableSessions.OwnerId;
import io.gameq.owner.DurableSessions.SessionId;
import io.gameq.owner.SessionRef;
import io.gameq.redis.ControlConnection.RedisConnection;
import io.gameq.redis.RedisReply;
import io.gameq.redis.SlotKeys;
import io.lettuce.core.KeyValue;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletionStage;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * An owner's own key: which session owns as far as Redis knows: {@code reassert.lua} tells it
 * again, {@code healed.lua} that what was lost of the session is there again, {@code close.lua}
 * ends it; and plain commands. Stateless.
 */
public final class OwnKey {
  /**
   * How long the own key outlives a closed session. It must exceed any pause between reading a
   * session in MySQL and re-asserting it in Redis, so that a late re-assert of an older session is
   * still refused.
   */
  public static final long KEPT_MILLIS = 3_600_000;

  /** A command or a script holds Redis for as long as it takes. */
  private static final int AT_ONCE = 500;

  private static final Logger LOG = LoggerFactory.getLogger(OwnKey.class);
  private static final LuaScript HEALED = LuaScript.of(OwnKey.class, "healed.lua");
  private static final LuaScript REASSERT = LuaScript.of(OwnKey.class, "inbox.lua", "reassert.lua");
  private static final LuaScript CLOSE = LuaScript.of(OwnKey.class, "close.lua");

  private OwnKey() {}

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
          put(known, some.get(i), LuaScript.string(owns.get(i).getValue()));
        }
      }
    }
    return known;
  }

  private static void put(Map<OwnerId, SessionId> known, OwnerId owner, String own) {
    try {
      known.put(owner, SessionId.parse(own));
    } catch (GameQueueException e) {
      // somebody else wrote there: it tells nothing of this owner, and holds up no other
    }
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
    REASSERT.load(redis);
    List<CompletionStage<List<Object>>> replies = new ArrayList<>(sessions.size());
    for (SessionRef session : sessions) {
      byte[][] keys = {SlotKeys.bytes(slots[session.slot()].prefix())};
      replies.add(REASSERT.send(redis, keys, LuaScript.args(session.owner(), session.id(), true)));
    }
    boolean[] owns = new boolean[replies.size()];
    for (int i = 0; i < owns.length; i++) {
      owns[i] = isAccepted(replies.get(i), sessions.get(i));
    }
    return owns;
  }

  private static boolean isAccepted(CompletionStage<List<Object>> sent, SessionRef session) {
    try {
      return isAccepted(RedisReply.await(sent));
    } catch (RedisUnavailableException e) {
      throw e;
    } catch (GameQueueException e) { // its own key only: the others are to be healed
      LOG.error("cannot tell Redis that session {} owns: {}", session, e.getMessage());
      return true;
    }
  }

  private static boolean isAccepted(List<Object> reply) {
    return (Long) reply.get(0) == 1;
  }

  /**
   * Says that what Redis had lost of sessions which own is in it again; over a connection that
   * flushes by itself.
   */
  public static void healed(RedisConnection redis, SlotKeys[] slots, List<SessionRef> sessions) {
    HEALED.load(redis);
    List<CompletionStage<List<Object>>> replies = new ArrayList<>();
    sessions.stream()
        .collect(Collectors.groupingBy(SessionRef::slot))
        .forEach(
            (slot, all) -> {
              byte[][] keys = {SlotKeys.bytes(slots[slot].prefix())};
              for (List<SessionRef> some : LuaScript.pieces(all, AT_ONCE)) {
                List<Object> args = new ArrayList<>();
                some.forEach(of -> args.addAll(List.of(of.owner(), of.text())));
                replies.add(HEALED.send(redis, keys, LuaScript.args(args)));
              }
            });
    replies.forEach(RedisReply::await);
  }
}
