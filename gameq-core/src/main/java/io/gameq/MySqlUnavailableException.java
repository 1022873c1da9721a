package io.gameq;

/**
 * MySQL is away, read-only, full, or does not let gameq in; what was asked may be asked again. What
 * {@link RedisUnavailableException} is for Redis.
 */
public final class MySqlUnavailableException extends MySqlException {
  private static final long serialVersionUID = 1L;

  /** With what happened, and the remedy. */
  public MySqlUnavailableException(String message) {
    super(message);
  }

  /** With what happened, the remedy, and the cause. */
  public MySqlUnavailableException(String message, Throwable cause) {
    super(message, cause);
  }
}
