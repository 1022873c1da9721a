package io.gameq.durability;

import io.gameq.change.Commit;
import io.gameq.sign.CommitTimes;
import io.gameq.sign.NodeCounts;
import java.util.ArrayDeque;
import java.util.Deque;

/**
 * How long commits of one session take to MySQL, told when a notice says that they are there. Keeps
 * nothing while nobody wants to know. Used under the {@link DurableTracker}'s lock.
 */
final class DurableTimes {
  /**
   * The first so many timed ones that wait are measured, and the next ones once these are there:
   * while MySQL is away a session that commits on and on must not take more and more memory.
   */
  private static final int MOST_MEASURED = 64;

  private final NodeCounts counts;
  private final Deque<Made> made = new ArrayDeque<>(2);

  private record Made(long nanos, long version) {}

  DurableTimes(NodeCounts counts) {
    this.counts = counts;
  }

  /** Redis has a commit; later than all before, as commits arrive in order. */
  void queued(Commit commit) {
    if (commit.isTimed() && made.size() < MOST_MEASURED && counts.times() != CommitTimes.NOBODY) {
      made.add(new Made(commit.beganNanos(), commit.version()));
    }
  }

  /** MySQL has everything up to this version. */
  void durableUpTo(long version) {
    if (made.isEmpty()) {
      return;
    }
    long now = System.nanoTime();
    CommitTimes times = counts.times();
    for (Made first; (first = made.peek()) != null && first.version <= version; ) {
      made.remove();
      times.durable(now - first.nanos);
    }
  }
}
