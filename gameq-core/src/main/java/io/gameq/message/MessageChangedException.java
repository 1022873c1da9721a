package io.gameq.message;

import io.gameq.GameQueueException;

/** A pending message was not what a commit expected; nothing of the commit was applied. */
public final class MessageChangedException extends GameQueueException {
  private static final long serialVersionUID = 1L;

  public MessageChangedException(String message) {
    super(message);
  }
}
