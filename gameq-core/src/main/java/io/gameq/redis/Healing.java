package io.gameq.redis;

import io.gameq.GameQueueException;
import io.gameq.OwnerId;
import io.gameq.RedisFullException;
import io.gameq.SessionId;
import io.gameq.commit.Commit;
import io.gameq.commit.CommitPart;
import io.gameq.commit.SessionRef;
import io.lettuce.core.KillArgs;
import io.lettuce.core.api.StatefulRedisConnection;
import java.util.Collection;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletionException;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What happens on a new connection before anything new is sent: sessions are read again in MySQL
 * and re-asserted in Redis, and commits without an answer are sent again, in order. Used by the
 * sender's thread; stopped anywhere, it may begin again.
 */
final class Healing {
  private static final Logger LOG = LoggerFactory.getLogger(Healing.class);

  private final DurableSessions durableSessions;
  private final SlotKeys[] slots;
  private final Settlement settlement;
  private final Function<Commit, CommitGroup> asScript;

  /**
   * A healing.
   *
   * @param asScript makes the group that sends one commit as a script
   */
  Healing(
      DurableSessions durableSessions,
      SlotKeys[] slots,
      Settlement settlement,
      Function<Commit, CommitGroup> asScript) {
    this.durableSessions = durableSessions;
    this.slots = slots;
    this.settlement = settlement;
    this.asScript = asScript;
  }

  /**
   * Makes sure that nothing of a connection that was given up is applied any more: its last bytes
   * may still be on their way, and a plain HSET among them would overwrite what is committed from
   * now on.
   */
  void silence(StatefulRedisConnection<byte[], byte[]> redis, long clientId) {
    RedisReply.await(() -> redis.sync().clientKill(KillArgs.Builder.id(clientId)));
  }

  /**
   * Heals over a connection that flushes by itself. Throws GameQueueException when a server goes
   * away meanwhile.
   */
  void run(
      StatefulRedisConnection<byte[], byte[]> redis,
      Collection<SessionRef> sessions,
      Deque<Commit> unanswered) {
    int again = unanswered.size();
    int lost = reassertAll(redis, sessions);
    sendAgain(redis, unanswered);
    LOG.info(
        "connected to Redis again: {} sessions, {} of them lost meanwhile, {} commits sent again",
        sessions.size(),
        lost,
        again);
  }

  /**
   * Whether the session owns, by MySQL; if so Redis knows it now, otherwise the session is lost.
   */
  boolean reassert(StatefulRedisConnection<byte[], byte[]> redis, SessionRef session) {
    return reassert(
        redis, session, durableSessions.current(List.of(session.owner())).get(session.owner()));
  }

  private boolean reassert(
      StatefulRedisConnection<byte[], byte[]> redis,
      SessionRef session,
      @Nullable SessionId durable) {
    boolean owns =
        session.id().equals(durable)
            && SessionScripts.reassert(redis, slots[session.slot()], session.owner(), session.id());
    if (!owns) {
      session.markLost();
    }
    return owns;
  }

  private int reassertAll(
      StatefulRedisConnection<byte[], byte[]> redis, Collection<SessionRef> sessions) {
    List<SessionRef> held = sessions.stream().filter(session -> !session.isLost()).toList();
    Map<OwnerId, SessionId> durable =
        durableSessions.current(held.stream().map(SessionRef::owner).toList());
    int lost = 0;
    for (SessionRef session : held) {
      lost += reassert(redis, session, durable.get(session.owner())) ? 0 : 1;
    }
    return lost;
  }

  /**
   * Sends commits again; each leaves the queue only when its outcome is known.
   *
   * @throws RedisFullException when Redis has no room for the first that is left
   * @throws GameQueueException when it does not answer
   */
  void sendAgain(StatefulRedisConnection<byte[], byte[]> redis, Deque<Commit> unanswered) {
    for (Commit commit; (commit = unanswered.peek()) != null; ) {
      if (sendAgain(redis, commit)) {
        unanswered.remove();
      }
    }
  }

  /** Sends a commit again; false when it has to be tried once more. */
  private boolean sendAgain(StatefulRedisConnection<byte[], byte[]> redis, Commit commit) {
    for (CommitPart part : commit.parts()) {
      if (part.session().isLost()) {
        settlement.failed(
            commit,
            Settlement.unknown(
                commit,
                "the reply was lost, and session "
                    + part.session().id()
                    + " no longer owns "
                    + part.session().owner()));
        return true;
      }
    }
    commit.setSentAgain();
    CommitGroup group = asScript.apply(commit);
    try {
      group.sendAsScript(redis).toCompletableFuture().join();
    } catch (CompletionException e) {
      String message = RedisReply.answered(e);
      if (message != null && RedisReply.isFull(message)) {
        throw new RedisFullException("Redis reached maxmemory");
      }
      if (message == null
          || !message.startsWith(
              "WRONGTYPE")) { // the first time it may have been applied: it has not failed
        throw new GameQueueException("Redis does not take commits again yet: " + e.getMessage(), e);
      }
      settlement.refused(commit, message);
      return true;
    }
    if (group.outcome(0)
        instanceof
        CommitGroup.NotOwner not) { // lost, or a session that was closed meanwhile and Redis forgot
      reassert(redis, not.part().session());
      return false;
    }
    settlement.queued(List.of(commit));
    return true;
  }
}
