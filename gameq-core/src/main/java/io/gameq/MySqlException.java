package io.gameq;

/**
 * MySQL refused a statement of gameq's own, or is away, which is {@link MySqlUnavailableException};
 * what was asked may be asked again. The message never holds values.
 */
public class MySqlException extends GameQueueException {
  private static final long serialVersionUID = 1L;

  /** With what happened, and the remedy. */
  public MySqlException(String message) {
    super(message, true);
  }

  /** With what happened, the remedy, and the cause. */
  public MySqlException(String message, Throwable cause) {
    super(message, cause, true);
  }
}
