package io.gameq.commit;

import io.gameq.GameQueueException;
import io.gameq.RedisFullException;
import io.gameq.change.Commit;
import io.gameq.healing.Healing;
import io.gameq.owner.SessionRef;
import io.gameq.redis.RedisConnection;
import io.gameq.redis.RedisReply;
import io.gameq.redis.script.CommitGroup;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.CompletionException;
import java.util.function.Function;

/**
 * Sends commits again whose answer was lost, or that Redis had no room for: as scripts, which
 * compare versions and so may run any number of times. Used by the sender's thread.
 */
final class Resending {
  private final Healing healing;
  private final Settlement settlement;
  private final Function<Commit, CommitGroup> asScript;

  /**
   * A resending.
   *
   * @param asScript makes the group that sends one commit as a script
   */
  Resending(Healing healing, Settlement settlement, Function<Commit, CommitGroup> asScript) {
    this.healing = healing;
    this.settlement = settlement;
    this.asScript = asScript;
  }

  /**
   * Sends commits again; each leaves the queue only when its outcome is known.
   *
   * @throws RedisFullException when Redis has no room for the first that is left
   * @throws GameQueueException when it does not answer
   */
  void sendAll(RedisConnection redis, Deque<Commit> unanswered) {
    for (Commit commit; (commit = unanswered.peek()) != null; ) {
      if (sendAgain(redis, commit)) {
        unanswered.remove();
      }
    }
  }

  /** Sends a commit again; false when it has to be tried once more. */
  private boolean sendAgain(RedisConnection redis, Commit commit) {
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
      healing.reassert(redis, not.part().session());
      return false;
    }
    settlement.queued(List.of(commit));
    return true;
  }
}
