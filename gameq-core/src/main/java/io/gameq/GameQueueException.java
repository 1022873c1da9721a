package io.gameq;

/**
 * Root of everything gameq throws on purpose; unchecked, and its message names the thing and the
 * remedy.
 */
public class GameQueueException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  /** With what happened, and the remedy. */
  public GameQueueException(String message) {
    super(message);
  }

  /** With what happened, the remedy, and the cause. */
  public GameQueueException(String message, Throwable cause) {
    super(message, cause);
  }

  /** The message; never null. */
  @Override
  public String getMessage() {
    return String.valueOf(super.getMessage());
  }
}
