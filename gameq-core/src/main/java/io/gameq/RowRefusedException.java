package io.gameq;

/**
 * A row that the catalogue says MySQL would refuse; thrown when it is put, before anything is
 * written.
 *
 * <p>The message names table, column, limit and the length of the value, never the value itself.
 */
public final class RowRefusedException extends GameQueueException {
  private static final long serialVersionUID = 1L;

  /** With what happened, and the remedy. */
  public RowRefusedException(String message) {
    super(message);
  }
}
