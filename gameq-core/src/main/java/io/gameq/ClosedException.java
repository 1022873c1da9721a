package io.gameq;

/**
 * A session, a subscription or the whole {@link GameQueue} was used after it was closed, or a
 * session after a commit of it failed, see {@link io.gameq.config.WhenCommitFails}; nothing was
 * changed.
 */
public final class ClosedException extends GameQueueException {
  private static final long serialVersionUID = 1L;

  /** With what is closed, and the remedy. */
  public ClosedException(String message) {
    super(message);
  }
}
