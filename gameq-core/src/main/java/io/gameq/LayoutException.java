package io.gameq;

/**
 * A row on its way to MySQL was written with another column list than its table has now, and does
 * not fit any more: {@code open} does not take the owner over, and {@code read} returns nothing.
 * The row itself is whole. Mend the table as the message says, then open or read again.
 *
 * <p>The message names table, column and remedy, never a value.
 */
public final class LayoutException extends GameQueueException {
  private static final long serialVersionUID = 1L;

  /** With what does not fit, and the remedy. */
  public LayoutException(String message) {
    super(message);
  }

  /** With what does not fit, the remedy, and the cause. */
  public LayoutException(String message, Throwable cause) {
    super(message, cause);
  }
}
