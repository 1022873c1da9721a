package io.gameq.config;

import io.gameq.ClosedException;
import io.gameq.OwnerSession;

/**
 * What becomes of a session of which a commit fails after {@code commit} has returned: Redis
 * refused it, or its outcome is unknown.
 */
public enum WhenCommitFails {
  /**
   * The session ends, as {@link OwnerSession#lost} tells, and takes nothing more: the game's memory
   * may be ahead of its rows, and its next commit would write half of a change. An open reads what
   * there is. Commits that were already on their way may still count. Until it is closed the
   * session throws {@link ClosedException}.
   */
  END_SESSION,
  /**
   * The session goes on, but for a commit with the acknowledgement of a message. The game waits for
   * {@code queued} before it changes its memory, or undoes that.
   */
  CONTINUE
}
