package io.gameq.terminal;

/** How commands end. Stateless. */
public final class ExitCodes {
  /** All is well. */
  public static final int OK = 0;

  /** The command ran, and found something to act on. */
  public static final int FOUND_SOMETHING = 1;

  /** It was called wrongly, or could not run. */
  public static final int COULD_NOT_RUN = 2;

  private ExitCodes() {}
}
