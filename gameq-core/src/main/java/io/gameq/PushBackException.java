package io.gameq;

/**
 * More waits for MySQL than a threshold of this node allows; nothing was committed, the changes
 * stay staged. Try again later, when {@code onPressure} tells that the pressure ended.
 */
public final class PushBackException extends GameQueueException {
  private static final long serialVersionUID = 1L;

  private final transient Pressure pressure;

  /** With what is passed, and the remedy. */
  public PushBackException(Pressure pressure, String message) {
    super(message, true);
    this.pressure = pressure;
  }

  /** The threshold, and the value that passed it. */
  public Pressure pressure() {
    return pressure;
  }
}
