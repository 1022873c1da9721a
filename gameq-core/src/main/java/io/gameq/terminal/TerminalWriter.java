package io.gameq.terminal;

import java.io.OutputStream;
import java.io.OutputStreamWriter;
import java.io.PrintWriter;
import java.io.Writer;
import java.nio.charset.Charset;

/** Prints to a terminal of some width, or to a file or pipe. Used by one thread. */
public final class TerminalWriter extends PrintWriter {
  private static final int LEAST_COLUMNS = 40;

  private final int columns;

  /**
   * Sends each line at once.
   *
   * @param columns of the terminal; 0: it is none
   */
  public TerminalWriter(Writer out, int columns) {
    super(out, true);
    this.columns = columns;
  }

  /** This process's own stream. */
  public static TerminalWriter of(OutputStream stream) {
    return new TerminalWriter(
        new OutputStreamWriter(stream, Charset.defaultCharset()), ownColumns());
  }

  /** What the launcher found: of stdout; 0 where that is no terminal, or nobody knows. */
  public static int ownColumns() {
    String columns = System.getenv("GAMEQ_COLUMNS");
    return columns != null && columns.matches("[0-9]{1,4}") ? Integer.parseInt(columns) : 0;
  }

  /** How many characters a line may have. */
  static int columns(PrintWriter out) {
    return out instanceof TerminalWriter terminal && terminal.columns > 0
        ? Math.max(LEAST_COLUMNS, terminal.columns)
        : Integer.MAX_VALUE;
  }
}
