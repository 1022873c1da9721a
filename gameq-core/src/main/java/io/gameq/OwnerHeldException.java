package io.gameq;

/**
 * Another node that is alive has the owner open, and the open was not to take it over; nothing was
 * changed.
 */
public final class OwnerHeldException extends GameQueueException {
  private static final long serialVersionUID = 1L;

  private final String owner;

  /** With the owner as the game wrote it, and with what happened and the remedy. */
  public OwnerHeldException(String owner, String message) {
    super(message);
    this.owner = owner;
  }

  /** The owner that is open, as the game wrote it: {@code player:42}. */
  public String owner() {
    return owner;
  }
}
