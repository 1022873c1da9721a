package io.gameq.config;

import io.gameq.ClosedException;
import io.gameq.OwnerSession;
import io.gameq.OwnershipLostException;

/**
 * What becomes of a session of which a commit fails after {@code commit} has returned: Redis or the
 * WAL took nothing of it, or its outcome is unknown. Where another session took an owner of the
 * commit over, it fails with {@link OwnershipLostException}: that owner's session commits nothing
 * more anyway, and the others of the commit go on.
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
