package io.gameq;

/**
 * Too many commits of this node wait for Redis, and none left within the time allowed; nothing was
 * committed, the changes stay staged.
 */
public final class QueueFullException extends GameQueueException {
  private static final long serialVersionUID = 1L;

  /** With what happened, and the remedy. */
  public QueueFullException(String message) {
    super(message, true);
  }
}
