package io.gameq.wal;

import io.gameq.GameQueueException;

/**
 * The WAL cannot be opened or written; nothing was sent to Redis for what could not be appended.
 */
public final class WalException extends GameQueueException {
  private static final long serialVersionUID = 1L;

  WalException(String message) {
    super(message);
  }

  WalException(String message, Throwable cause) {
    super(message, cause);
  }
}
