package io.gameq;

/**
 * Redis is away, or cannot write just now; what was asked may or may not have been done, and may be
 * asked again.
 */
public class RedisUnavailableException extends GameQueueException {
  private static final long serialVersionUID = 1L;

  /** With what happened, and the remedy. */
  public RedisUnavailableException(String message) {
    super(message, true);
  }

  /** With what happened, the remedy, and the cause. */
  public RedisUnavailableException(String message, Throwable cause) {
    super(message, cause, true);
  }
}
