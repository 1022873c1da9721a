package io.gameq;

import io.gameq.topic.DeadLetter;
import java.util.List;

/**
 * MySQL refused rows of a commit: they were set aside, see {@link DeadLetter}; the other rows of
 * the commit are in MySQL.
 */
public final class DeadLetterException extends GameQueueException {
  private static final long serialVersionUID = 1L;

  private final List<String> keys;

  /** With a message that names the rows, {@code table:primary key}. */
  public DeadLetterException(List<String> keys) {
    super(
        "MySQL refused "
            + keys
            + ", set aside as dead letters: see OwnerSession.deadLetters, or 'gameq-writer dead'");
    this.keys = List.copyOf(keys);
  }

  /** The refused rows, {@code table:primary key}. */
  public List<String> keys() {
    return keys;
  }
}
