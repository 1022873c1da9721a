package io.gameq.node;

import io.gameq.Urgency;

/**
 * How a commit is to be treated. Immutable.
 *
 * @param isPushedBack whether a backlog holds it up or has it refused, by the node's policies
 * @param deadlineNanos until when it may wait for room, by System.nanoTime
 */
record CommitTerms(Urgency urgency, boolean isPushedBack, long deadlineNanos) {
  /** What the game commits. */
  static CommitTerms of(Urgency urgency) {
    return new CommitTerms(urgency, urgency == Urgency.NORMAL, Long.MAX_VALUE);
  }

  /** What is staged in a session that is closed: refused, it would be dropped. */
  static CommitTerms last(long deadlineNanos) {
    return new CommitTerms(Urgency.NORMAL, false, deadlineNanos);
  }
}
