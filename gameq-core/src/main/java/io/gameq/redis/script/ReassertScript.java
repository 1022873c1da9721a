package io.gameq.redis.script;

import io.gameq.GameQueueException;
import io.gameq.RedisUnavailableException;
import io.gameq.owner.OwnerId;
import io.gameq.owner.SessionId;
import io.gameq.owner.SessionRef;
import io.gameq.redis.RedisConnection;
import io.gameq.redis.RedisReply;
import io.gameq.redis.SlotKeys;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletionStage;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * {@code reassert.lua}: tells Redis again which session owns. The caller has read that in MySQL.
 * Stateless.
 */
public final class ReassertScript {
  private static final LuaScript SCRIPT =
      LuaScript.of(ReassertScript.class, "inbox.lua", "reassert.lua");

  private static final Logger LOG = LoggerFactory.getLogger(ReassertScript.class);

  private ReassertScript() {}

  /** Whether the session owns now; false when a newer one does. */
  public static boolean call(
      RedisConnection redis, SlotKeys slot, OwnerId owner, SessionId session) {
    return isAccepted(SCRIPT.call(redis, slot, owner, session, true));
  }

  /** The same of a session that nobody has, so that the one before it owns no more. */
  public static void fence(RedisConnection redis, SlotKeys slot, OwnerId owner, SessionId session) {
    SCRIPT.call(redis, slot, owner, session, false);
  }

  /** The same for many, over a connection that flushes by itself; whether each owns now. */
  public static boolean[] callAll(
      RedisConnection redis, SlotKeys[] slots, List<SessionRef> sessions) {
    SCRIPT.load(redis);
    List<CompletionStage<List<Object>>> replies = new ArrayList<>(sessions.size());
    for (SessionRef session : sessions) {
      byte[][] keys = {SlotKeys.bytes(slots[session.slot()].prefix())};
      replies.add(SCRIPT.send(redis, keys, LuaScript.args(session.owner(), session.id(), true)));
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
}
