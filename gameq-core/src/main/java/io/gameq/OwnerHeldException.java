package io.gameq;

/**
 * Another node that is alive has the owner open, and the open was not to take it over; nothing was
 * changed.
 */
public final class OwnerHeldException extends GameQueueException {
  private static final long serialVersionUID = 1L;

  /** With what happened, and the remedy. */
  public OwnerHeldException(String message) {
    super(message);
  }
}
