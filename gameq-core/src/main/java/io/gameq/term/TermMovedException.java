package io.gameq.term;

import io.gameq.RedisUnavailableException;

/** What went by way of a primary that does not count any more; nothing was written. */
public final class TermMovedException extends RedisUnavailableException {
  private static final long serialVersionUID = 1L;

  public TermMovedException(String message) {
    super(message);
  }
}
