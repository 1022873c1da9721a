package io.gameq.sign;

/**
 * Is told how long commits took, of one in eight; called on threads that everything waits for, so
 * it must be quick and must not throw. Thread-safe.
 */
public interface CommitTimes {
  /** Tells nobody. */
  CommitTimes NOBODY =
      new CommitTimes() {
        @Override
        public void queued(long nanos) {}

        @Override
        public void durable(long nanos) {}
      };

  /** Redis has a commit, so long after the game committed it. */
  void queued(long nanos);

  /** MySQL has a commit, but for rows that it refused, so long after the game committed it. */
  void durable(long nanos);
}
