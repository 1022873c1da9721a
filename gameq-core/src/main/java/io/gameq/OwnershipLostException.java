package io.gameq;

/**
 * A newer session owns the owner: nothing of this commit is or will be in MySQL under this session.
 */
public final class OwnershipLostException extends GameQueueException {
  private static final long serialVersionUID = 1L;

  private final String owner;

  /** With the owner as the game wrote it, and with what happened and the remedy. */
  public OwnershipLostException(String owner, String message) {
    super(message);
    this.owner = owner;
  }

  /** The owner that was lost, as the game wrote it: {@code player:42}. */
  public String owner() {
    return owner;
  }
}
