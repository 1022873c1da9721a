package io.gameq;

/**
 * The WAL has no room for the commit: its disk is nearly full, or everything in it is still needed
 * and it reached its limit. Nothing of the commit was written or sent; commits are taken again by
 * themselves once there is room. What becomes of its sessions: {@link
 * io.gameq.config.WhenCommitFails}.
 */
public final class WalFullException extends CommitFailedException {
  private static final long serialVersionUID = 1L;

  /** With what happened, and the remedy. */
  public WalFullException(String message) {
    super(message, true);
  }
}
