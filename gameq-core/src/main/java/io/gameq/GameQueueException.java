package io.gameq;

/**
 * Root of everything gameq throws on purpose; unchecked, and its message names the thing and the
 * remedy.
 */
public class GameQueueException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  private final boolean isOutage;

  /** With what happened, and the remedy. */
  public GameQueueException(String message) {
    this(message, false);
  }

  /** With what happened, the remedy, and the cause. */
  public GameQueueException(String message, Throwable cause) {
    this(message, cause, false);
  }

  GameQueueException(String message, boolean isOutage) {
    super(message);
    this.isOutage = isOutage;
  }

  GameQueueException(String message, Throwable cause, boolean isOutage) {
    super(message, cause);
    this.isOutage = isOutage;
  }

  /**
   * Whether this is an outage: a server is away, full or locked, or too much waits, and nothing is
   * wrong with what was asked, which may be asked again later. An attempt of a message whose
   * handler throws such an exception does not count.
   */
  public boolean isOutage() {
    return isOutage;
  }

  /** The message; never null. */
  @Override
  public String getMessage() {
    return String.valueOf(super.getMessage());
  }
}
