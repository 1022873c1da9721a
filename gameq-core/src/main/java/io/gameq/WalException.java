package io.gameq;

/**
 * The WAL cannot be opened or written; nothing was sent to Redis for what could not be appended.
 */
public final class WalException extends GameQueueException {
  private static final long serialVersionUID = 1L;

  private final boolean mayBeReadable;

  /** With what happened, and the remedy. */
  public WalException(String message) {
    super(message, true);
    this.mayBeReadable = false;
  }

  /** With what happened, the remedy, and the cause. */
  public WalException(String message, Throwable cause) {
    this(message, cause, false);
  }

  /**
   * With what happened, the remedy, the cause, and whether recovery may find the record all the
   * same.
   */
  public WalException(String message, Throwable cause, boolean mayBeReadable) {
    super(message, cause, true);
    this.mayBeReadable = mayBeReadable;
  }

  /**
   * Whether the record that was to be appended may be found in the WAL by recovery all the same.
   */
  public boolean mayBeReadable() {
    return mayBeReadable;
  }
}
