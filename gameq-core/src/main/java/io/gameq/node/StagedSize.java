package io.gameq.node;

import io.gameq.GameQueueException;
import io.gameq.Limits;

/**
 * How much is staged for one commit, against what a commit takes: too much is refused when it is
 * put, not when it is committed. Thread-safe.
 */
final class StagedSize {
  private final Limits limits;
  private int rows;
  private long bytes;

  StagedSize(Limits limits) {
    this.limits = limits;
  }

  /**
   * Counts a change.
   *
   * @param moreRows and messages; 0 for one that takes another's place
   * @throws GameQueueException when it does not fit; then it is not counted
   */
  synchronized void grow(int moreRows, long moreBytes) {
    if (rows + moreRows > limits.commitRows()) {
      throw tooMuch(
          "%,d rows and messages".formatted(rows + moreRows), "%,d".formatted(limits.commitRows()));
    }
    if (bytes + moreBytes > limits.commitBytes()) {
      throw tooMuch(
          "%,d bytes".formatted(bytes + moreBytes), "%,d".formatted(limits.commitBytes()));
    }
    rows += moreRows;
    bytes += moreBytes;
  }

  private static GameQueueException tooMuch(String wouldBe, String limit) {
    return new GameQueueException(
        ("this change would make a commit of %s, the limit is %s: commit in smaller steps, or raise"
                + " maxCommit")
            .formatted(wouldBe, limit));
  }

  /** So much is staged now. */
  synchronized void set(int nowRows, long nowBytes) {
    rows = nowRows;
    bytes = nowBytes;
  }
}
