package io.gameq;

/**
 * A wait for a commit ended before its outcome was known: the commit is still on its way, and its
 * {@link CommitReceipt} tells later. To commit the same again is not needed.
 */
public final class CommitPendingException extends GameQueueException {
  private static final long serialVersionUID = 1L;

  /** With what was waited for, and how long. */
  public CommitPendingException(String message) {
    super(message, true);
  }
}
