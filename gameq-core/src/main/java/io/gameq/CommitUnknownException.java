package io.gameq;

/**
 * The reply was lost and the session no longer owns: the commit may or may not have reached Redis.
 * The message names its rows.
 */
public final class CommitUnknownException extends GameQueueException {
  private static final long serialVersionUID = 1L;

  public CommitUnknownException(String message) {
    super(message);
  }
}
