package io.gameq.redis;

/** A MULTI that Redis discarded as a whole: nothing of it was applied. */
public final class TransactionDiscardedException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  public TransactionDiscardedException(String message) {
    super(message);
  }
}
