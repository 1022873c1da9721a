package io.gameq.redis.script;

import io.gameq.change.Commit;
import io.gameq.redis.RedisConnection;
import io.gameq.redis.SlotKeys;
import io.gameq.redis.script.JournalMarks.SlotMarks;
import io.gameq.redis.script.MessagesScript.Mode;
import io.gameq.redis.script.MessagesScript.WalCall;
import java.util.List;

/** Sends one commit as the sender does and waits for what became of it, for tests elsewhere. */
public final class CommitWire {
  private CommitWire() {}

  /** What became of a commit. */
  public enum Answer {
    APPLIED,
    /** The same, and Redis has lost what was there before. */
    APPLIED_AFTER_A_LOSS,
    /** A newer session owns one of its owners. */
    NEWER_SESSION,
    /** Redis knows no session or an older one; the rows are written. */
    FORGOTTEN_WRITTEN,
    /** Redis knows no session or an older one; nothing is written. */
    FORGOTTEN
  }

  /** As {@link io.gameq.commit.CommitSender} sends it the first time. */
  public static Answer first(
      RedisConnection redis, SlotKeys slot, String walId, Commit commit, SlotMarks marks) {
    CommitGroup group = group(slot, walId, commit, marks);
    group.send(redis).toCompletableFuture().join();
    boolean fits = group.answered();
    Answer answer = answer(group);
    return answer == Answer.APPLIED && !fits ? Answer.APPLIED_AFTER_A_LOSS : answer;
  }

  private static CommitGroup group(SlotKeys slot, String walId, Commit commit, SlotMarks marks) {
    SlotKeys[] slots = new SlotKeys[slot.slot() + 1];
    slots[slot.slot()] = slot;
    WalCall call = new WalCall(SlotKeys.bytes(walId), Mode.FIRST, 0, 0, slots);
    return CommitGroup.of(List.of(commit), call, marks, false);
  }

  private static Answer answer(CommitGroup group) {
    CommitGroup.Outcome outcome = group.outcome(0);
    if (outcome instanceof CommitGroup.Applied) {
      return Answer.APPLIED;
    }
    if (outcome instanceof CommitGroup.Forgotten) {
      return Answer.FORGOTTEN;
    }
    if (outcome instanceof CommitGroup.NotOwner not) {
      if (not.isNewer()) {
        return Answer.NEWER_SESSION;
      }
      return not.written() ? Answer.FORGOTTEN_WRITTEN : Answer.FORGOTTEN;
    }
    throw new IllegalStateException("Redis refused the commit: " + outcome);
  }
}
