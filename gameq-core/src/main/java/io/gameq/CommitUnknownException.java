package io.gameq;

/**
 * The commit may or may not have reached Redis, or may still reach MySQL: its reply was lost and
 * the session no longer owns, or it failed and the WAL could not be told so, from which recovery
 * may replay it. The message names its rows.
 */
public final class CommitUnknownException extends GameQueueException {
  private static final long serialVersionUID = 1L;

  /** With what happened, and the remedy. */
  public CommitUnknownException(String message) {
    super(message);
  }
}
