package io.gameq.terminal;

import java.util.StringJoiner;

/** Says an exception in one line: the messages of its causes, outermost first. Stateless. */
public final class ErrorLine {
  /** Longer messages quote statements or values. */
  private static final int MAX_MESSAGE_CHARS = 300;

  private static final int MAX_CAUSES = 4;

  private ErrorLine() {}

  public static String of(Throwable error) {
    StringJoiner line = new StringJoiner(": ");
    String said = "";
    int causes = 0;
    for (Throwable cause = error; cause != null && causes < MAX_CAUSES; cause = cause.getCause()) {
      String message = message(cause);
      // A wrapper often repeats what it wraps.
      if (!said.contains(message)) {
        line.add(message);
        said += message;
        causes++;
      }
    }
    return line.toString();
  }

  private static String message(Throwable cause) {
    String message = cause.getMessage();
    String text = message == null || message.isBlank() ? cause.getClass().getSimpleName() : message;
    String oneLine = Shown.text(text.strip().replaceAll("\\s+", " "));
    return oneLine.length() <= MAX_MESSAGE_CHARS
        ? oneLine
        : oneLine.substring(0, MAX_MESSAGE_CHARS) + "...";
  }
}
