package io.gameq;

/**
 * MySQL is away or refused a statement of gameq's own; what was asked may be asked again. The
 * message never holds values.
 */
public final class MySqlException extends GameQueueException {
  private static final long serialVersionUID = 1L;

  /** With what happened, the remedy, and the cause. */
  public MySqlException(String message, Throwable cause) {
    super(message, cause);
  }
}
