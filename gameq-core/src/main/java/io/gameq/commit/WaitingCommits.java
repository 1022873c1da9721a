package io.gameq.commit;

import io.gameq.RedisUnavailableException;
import io.gameq.change.Commit;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;

/**
 * Commits that games have handed in and the sender has not taken yet, and the room for them.
 * Thread-safe.
 */
final class WaitingCommits {
  private final Admission admission;
  private final RedisAway away;
  private final SenderEnd end;
  private final Queue<Commit> queue = new ConcurrentLinkedQueue<>();

  WaitingCommits(Admission admission, RedisAway away, SenderEnd end) {
    this.admission = admission;
    this.away = away;
    this.end = end;
  }

  /**
   * Takes a commit in; see {@link CommitSender#submit}.
   *
   * @throws io.gameq.QueueFullException when no room came in time
   * @throws io.gameq.ClosedException when the sender is closed
   * @throws RedisUnavailableException when Redis is away, and the policy is not to wait for it
   */
  void add(Commit commit, long deadlineNanos) {
    if (end.death() != null) {
      throw end.whyNot();
    }
    RedisUnavailableException refusal = away.refusal();
    if (refusal != null) {
      throw refusal;
    }
    admission.enter(commit.bytes(), deadlineNanos);
    queue.add(commit);
    if ((end.isStopping() || end.hasEnded())
        && queue.remove(commit)) { // else the sender has taken it and will answer
      admission.leave(commit.bytes());
      throw end.whyNot();
    }
    refusal = away.fails() ? away.refusal() : null;
    if (refusal != null && queue.remove(commit)) {
      admission.leave(commit.bytes());
      throw refusal;
    }
  }

  /** By the sender; the game takes commits back as well. */
  Queue<Commit> queue() {
    return queue;
  }

  boolean isEmpty() {
    return queue.isEmpty();
  }
}
