package io.gameq.healing;

import io.gameq.change.Commit;
import io.gameq.owner.SessionRef;
import io.gameq.redis.script.CommitGroup;
import org.jspecify.annotations.Nullable;

/**
 * Commits whose answer was lost, or that Redis had no room for, in WAL order; but acknowledgements
 * of messages come first, since they make room. Each stays the first until its outcome is known.
 */
public interface UnansweredCommits {
  /** The next; null when there is none. */
  @Nullable Commit first();

  /** What sends a commit again, by itself. */
  CommitGroup group(Commit commit);

  /** Redis holds the first. */
  void queued(Commit first);

  /** Nobody knows what became of the first: a session of it is lost. */
  void unknown(Commit first, SessionRef lost);

  /** Redis refused the first, with this message, and holds nothing of it. */
  void refused(Commit first, String message);

  /** A message, or a row, was not as the first needs it: Redis holds nothing of it now. */
  void refused(Commit first, CommitGroup.Unmet why);
}
