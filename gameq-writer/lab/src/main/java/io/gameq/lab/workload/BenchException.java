package io.gameq.lab.workload;

import io.gameq.GameQueueException;

/** A benchmark could not go on. */
public final class BenchException extends GameQueueException {
  private static final long serialVersionUID = 1L;

  public BenchException(String message, Throwable cause) {
    super(message, cause);
  }

  public BenchException(String message) {
    super(message);
  }
}
