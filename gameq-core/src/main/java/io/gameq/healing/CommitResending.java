package io.gameq.healing;

import io.gameq.GameQueueException;
import io.gameq.RedisFullException;
import io.gameq.change.Commit;
import io.gameq.owner.SessionRef;
import io.gameq.redis.RedisReply;
import io.gameq.redis.script.CommitGroup;
import java.util.concurrent.CompletionException;
import org.jspecify.annotations.Nullable;

/**
 * Sends the oldest commit without an answer again: as a script, which compares versions and so may
 * run any number of times. Stateless.
 */
final class CommitResending {
  private CommitResending() {}

  static HealingStep next(HealingPorts ports) {
    UnansweredCommits unanswered = ports.unanswered();
    for (Commit commit; (commit = unanswered.first()) != null; ) {
      SessionRef lost = commit.lostSession();
      if (lost == null) {
        return send(ports, commit);
      }
      unanswered.unknown(commit, lost);
    }
    return HealingStep.SendAgain.orMarks(ports);
  }

  private static HealingStep send(HealingPorts ports, Commit commit) {
    commit.setSentAgain();
    CommitGroup group = ports.unanswered().group(commit);
    if (group.isThere()) {
      ports.unanswered().queued(commit);
      return HealingStep.SendAgain.orMarks(ports);
    }
    try {
      group.sendAgain(ports.redis()).toCompletableFuture().join();
    } catch (CompletionException e) {
      ports.unanswered().refused(commit, refusal(RedisReply.answered(e), e));
      group.refused();
      return HealingStep.SendAgain.orMarks(ports);
    }
    if (!group.answered()) {
      throw new GameQueueException("Redis lost something again while it was healed");
    }
    CommitGroup.Outcome outcome = group.outcome(0);
    if (outcome
        instanceof
        CommitGroup.NotOwner not) { // lost, or a session that was closed meanwhile and Redis forgot
      return new HealingStep.AskOwner(
          SessionName.of(not.part().session()), new HealingStep.SendAgain(), false);
    }
    if (outcome instanceof CommitGroup.RefusedBy by) {
      ports
          .unanswered()
          .refused(commit, refusal(by.message(), new GameQueueException(by.message())));
      return HealingStep.SendAgain.orMarks(ports);
    }
    if (outcome instanceof CommitGroup.Unmet unmet) {
      ports.unanswered().refused(commit, unmet);
      return HealingStep.SendAgain.orMarks(ports);
    }
    ports.unanswered().queued(commit);
    return HealingStep.SendAgain.orMarks(ports);
  }

  /** Why Redis holds nothing of it; throws when it may, or will later. */
  private static String refusal(@Nullable String message, RuntimeException e) {
    if (message != null && RedisReply.isFull(message)) {
      throw new RedisFullException("Redis reached maxmemory");
    }
    if (message == null
        || !message.startsWith(
            "WRONGTYPE")) { // the first time it may have been applied: it has not failed
      throw new GameQueueException("Redis does not take commits again yet: " + e.getMessage(), e);
    }
    return message;
  }
}
