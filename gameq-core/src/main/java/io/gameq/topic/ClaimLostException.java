package io.gameq.topic;

import io.gameq.GameQueueException;

/**
 * The lease of a delivery ran out before its acknowledgement came, and the message is another
 * handler's now, or waits for one; or Redis failed over and knows nothing of the delivery. Nothing
 * of the commit was applied, neither the acknowledgement nor rows that were committed with it.
 */
public final class ClaimLostException extends GameQueueException {
  private static final long serialVersionUID = 1L;

  /** With a message that names the message of the topic. */
  public ClaimLostException(String message) {
    super(message);
  }
}
