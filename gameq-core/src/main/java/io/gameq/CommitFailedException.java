package io.gameq;

/**
 * Redis refused the commit and holds nothing of it. Its rows may be put and committed again: in a
 * session opened anew, see {@link io.gameq.config.WhenCommitFails}.
 */
public class CommitFailedException extends GameQueueException {
  private static final long serialVersionUID = 1L;

  /** With what happened, and the remedy. */
  public CommitFailedException(String message) {
    super(message);
  }

  CommitFailedException(String message, boolean isOutage) {
    super(message, isOutage);
  }
}
