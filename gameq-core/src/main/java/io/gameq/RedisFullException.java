package io.gameq;

/**
 * Redis reached maxmemory and refused the commit; writers go on draining, so a later one may be
 * taken. What becomes of its sessions: {@link io.gameq.config.WhenCommitFails}.
 */
public final class RedisFullException extends CommitFailedException {
  private static final long serialVersionUID = 1L;

  /** With what happened, and the remedy. */
  public RedisFullException(String message) {
    super(message, true);
  }
}
