package io.gameq;

/**
 * A newer session owns the owner: nothing of this commit is or will be in MySQL under this session.
 */
public final class OwnershipLostException extends GameQueueException {
  private static final long serialVersionUID = 1L;

  /** With what happened, and the remedy. */
  public OwnershipLostException(String message) {
    super(message);
  }
}
