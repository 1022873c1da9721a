package io.gameq;

/**
 * What is staged may be half of a change, because a put, delete or move was refused since the last
 * commit, or because it was to be committed together with what another session had staged. Nothing
 * was committed; {@link OwnerSession#rollback} drops it.
 *
 * <p>The message names owner and table, never a value; the cause is what was refused.
 */
public final class RollbackRequiredException extends GameQueueException {
  private static final long serialVersionUID = 1L;

  /** With what happened, the remedy, and the cause. */
  public RollbackRequiredException(String message, Throwable cause) {
    super(message, cause);
  }
}
