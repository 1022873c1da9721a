package io.gameq.rows.types;

import io.gameq.GameQueueException;

/** A column type that gameq cannot keep exactly; the message is the reason. */
public final class UnmanageableException extends GameQueueException {
  private static final long serialVersionUID = 1L;

  public UnmanageableException(String reason) {
    super(reason);
  }
}
