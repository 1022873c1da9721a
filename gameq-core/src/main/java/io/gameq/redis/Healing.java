package io.gameq.redis;

import io.gameq.GameQueueException;
import io.gameq.RedisFullException;
import io.gameq.commit.Commit;
import io.gameq.commit.SessionRef;
import io.lettuce.core.api.StatefulRedisConnection;
import java.util.Collection;
import java.util.Deque;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletionException;
import java.util.function.Function;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What happens on a new connection before anything new is sent: sessions are read again in MySQL
 * and re-asserted in Redis, {@linkplain Replay what Redis lost} is replayed, and commits without an
 * answer are sent again, in order. Used by the sender's thread; stopped anywhere, it may begin
 * again.
 */
final class Healing {
  private static final Logger LOG = LoggerFactory.getLogger(Healing.class);

  private final Reassertion reassertion;
  private final Replay replay;
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
      Replay replay,
      Settlement settlement,
      Function<Commit, CommitGroup> asScript) {
    this.reassertion = new Reassertion(durableSessions, slots);
    this.replay = replay;
    this.settlement = settlement;
    this.asScript = asScript;
  }

  /**
   * Heals over a connection that flushes by itself. The connection was made before MySQL is asked
   * here: an answer that a later failover has overtaken can then not reach the new primary. Throws
   * GameQueueException when a server goes away meanwhile. Returns the WAL records that are not
   * replayed for good.
   */
  Set<Long> run(
      StatefulRedisConnection<byte[], byte[]> redis,
      Collection<Replay.Session> sessions,
      Deque<Commit> unanswered) {
    List<Replay.Session> held = sessions.stream().filter(of -> !of.ref().isLost()).toList();
    replay.noteLost(redis, held);
    reassertion.run(redis, held.stream().map(Replay.Session::ref).toList());
    long lost = held.stream().filter(of -> of.ref().isLost()).count();
    Runnable whole =
        () ->
            SessionScripts.healed(
                redis,
                reassertion.slots(),
                sessions.stream().map(Replay.Session::ref).filter(ref -> !ref.isLost()).toList());
    Replay.Result replayed =
        replay.run(redis, sessions, session -> reassert(redis, session), whole);
    whole.run();
    int again = unanswered.size();
    sendAgain(redis, unanswered);
    LOG.info(
        "healed: {} sessions own, {} were lost; {} records replayed from the WAL, {} given up, {}"
            + " commits without an answer sent again",
        held.size() - lost,
        lost,
        replayed.sent(),
        replayed.givenUp().size(),
        again);
    return replayed.givenUp();
  }

  /**
   * Whether the session owns, by MySQL; if so Redis knows it now, otherwise the session is lost.
   */
  boolean reassert(StatefulRedisConnection<byte[], byte[]> redis, SessionRef session) {
    return reassertion.run(redis, session);
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
    SessionRef lost = commit.lostSession();
    if (lost != null) {
      settlement.failed(
          commit,
          Settlement.unknown(
              commit,
              "the reply was lost, and session " + lost.id() + " no longer owns " + lost.owner()));
      return true;
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
      settlement.failed(List.of(Settlement.refused(commit, message)));
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
