package io.gameq.rows;

import io.gameq.GameQueueException;

/**
 * A row encoded with another column list than the table has now, which does not fit any more; the
 * row itself is whole, and fits again once the table does.
 */
public final class LayoutException extends GameQueueException {
  private static final long serialVersionUID = 1L;

  public LayoutException(String message) {
    super(message);
  }

  public LayoutException(String message, Throwable cause) {
    super(message, cause);
  }
}
