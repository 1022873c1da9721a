package io.gameq;

import io.gameq.config.GameQueueConfigBuilder;

/**
 * A call was not done within {@link GameQueueConfigBuilder#callTimeout}, while both servers had
 * answered a moment ago: one of them is slow, or has just gone away. What was asked may still be
 * done.
 */
public final class CallTimeoutException extends GameQueueException {
  private static final long serialVersionUID = 1L;

  /** With what was not done, and how long it was waited for. */
  public CallTimeoutException(String message) {
    super(message, true);
  }
}
