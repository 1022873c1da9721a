package io.gameq.lab.servers;

/** An embedded server cannot be unpacked or started, or stopped; the message names the remedy. */
public final class EmbeddedServerException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  public EmbeddedServerException(String message) {
    super(message);
  }

  public EmbeddedServerException(String message, Throwable cause) {
    super(message, cause);
  }
}
