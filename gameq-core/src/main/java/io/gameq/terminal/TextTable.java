package io.gameq.terminal;

import java.io.OutputStream;
import java.io.OutputStreamWriter;
import java.io.PrintWriter;
import java.io.Writer;
import java.nio.charset.Charset;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * Prints rows under headings, in columns as wide as their cells; row by row or page by page. On a
 * terminal a line is as wide as it at most: long texts are cut, then columns left out; a last
 * column without a heading holds sentences, and goes on in the next line. Used by one thread.
 */
public final class TextTable {
  /** A longer cell pushes only its own row to the right. */
  private static final int MOST_WIDTH = 48;

  /** Less of a text tells nothing. */
  private static final int LEAST_WIDTH = 8;

  private static final int LEAST_SENTENCE = 30;
  private static final String GAP = "  ";

  private final PrintWriter out;
  private final List<String> headings;
  private final int columns;
  private final boolean hasSentences;
  private final int[] widths;
  private final boolean[] isText;
  private List<String> leftOutFirst = List.of();

  /** Indexes of the columns that there is room for; empty before the first row. */
  private final List<Integer> shown = new ArrayList<>();

  public TextTable(PrintWriter out, String... headings) {
    this(out, List.of(headings), headings.length);
  }

  private TextTable(PrintWriter out, List<String> headings, int count) {
    this.out = out;
    this.headings = headings;
    this.columns = TerminalWriter.columns(out);
    this.hasSentences = headings.isEmpty() || headings.get(count - 1).isEmpty();
    this.widths = new int[count];
    this.isText = new boolean[count];
  }

  public static TextTable withoutHeadings(PrintWriter out, int columns) {
    return new TextTable(out, List.of(), columns);
  }

  /** Which columns a narrow terminal does without first, in this order; then the last ones. */
  public TextTable leavingOut(String... first) {
    leftOutFirst = List.of(first);
    return this;
  }

  /** Prints rows; those of later calls stand in the same columns as far as they fit. */
  public void print(List<List<String>> rows) {
    if (rows.isEmpty()) {
      return;
    }
    for (List<String> cells : rows) {
      for (int i = 0; i < widths.length; i++) {
        widths[i] = Math.max(widths[i], width(cells.get(i)));
        isText[i] |= cells.get(i).chars().anyMatch(Character::isLetter);
      }
    }
    List<List<String>> lines = new ArrayList<>(rows);
    if (shown.isEmpty()) {
      for (int i = 0; i < headings.size(); i++) {
        widths[i] = Math.max(widths[i], headings.get(i).length());
      }
      choose();
      if (!headings.isEmpty()) {
        lines.add(0, headings);
      }
    }
    int[] fit = fit();
    lines.forEach(cells -> line(cells, fit));
  }

  private int width(String cell) {
    return columns == Integer.MAX_VALUE ? Math.min(MOST_WIDTH, cell.length()) : cell.length();
  }

  /** Leaves out columns until the others have the least of room that they need. */
  private void choose() {
    IntStream.range(0, widths.length).forEach(shown::add);
    List<String> leftOut = new ArrayList<>();
    List<String> order = new ArrayList<>(leftOutFirst);
    while (length(shown.stream().mapToInt(this::least).toArray()) > columns && shown.size() > 1) {
      Integer next =
          order.isEmpty() ? shown.get(shown.size() - 1) : headings.indexOf(order.remove(0));
      leftOut.add(headings.isEmpty() ? "" : headings.get(next));
      shown.remove(next);
    }
    if (!leftOut.isEmpty()) {
      out.println("no room for " + String.join(", ", leftOut) + ": --json has all");
    }
  }

  private static int length(int[] widths) {
    return Arrays.stream(widths).sum() + GAP.length() * (widths.length - 1);
  }

  /** A number, or a time, is shown whole. */
  private int least(int column) {
    return isSentence(column)
        ? Math.min(LEAST_SENTENCE, widths[column])
        : isText[column]
            ? Math.min(
                widths[column],
                Math.max(LEAST_WIDTH, headings.isEmpty() ? 0 : headings.get(column).length()))
            : widths[column];
  }

  private boolean isSentence(int column) {
    return hasSentences && column == widths.length - 1;
  }

  /** How wide each column that is shown gets: of those that can do with less the widest yields. */
  private int[] fit() {
    int[] fit = shown.stream().mapToInt(column -> widths[column]).toArray();
    while (length(fit) > columns) {
      int widest = -1;
      for (int i = 0; i < fit.length; i++) {
        if (fit[i] > least(shown.get(i)) && (widest < 0 || fit[i] > fit[widest])) {
          widest = i;
        }
      }
      if (widest < 0) {
        break; // a later page has wider numbers
      }
      fit[widest]--;
    }
    return fit;
  }

  private void line(List<String> cells, int[] fit) {
    StringBuilder line = new StringBuilder();
    for (int i = 0; i < fit.length; i++) {
      int column = shown.get(i);
      String cell = cells.get(column);
      if (columns < Integer.MAX_VALUE && cell.length() > fit[i]) {
        cell =
            isSentence(column)
                ? wrapped(cell, fit[i], line.length())
                : cell.substring(0, Math.max(0, fit[i] - 3)) + "...";
      }
      line.append(cell).append(" ".repeat(Math.max(0, fit[i] - cell.length()))).append(GAP);
    }
    out.println(
        line.toString().lines().map(String::stripTrailing).collect(Collectors.joining("\n")));
  }

  /** In lines of words. */
  private static String wrapped(String text, int width, int indent) {
    StringBuilder lines = new StringBuilder();
    int length = 0;
    for (String word : text.split(" ", -1)) {
      if (length > 0 && length + 1 + word.length() > width) {
        lines.append('\n').append(" ".repeat(indent));
        length = 0;
      } else if (length > 0) {
        lines.append(' ');
        length++;
      }
      lines.append(word);
      length += word.length();
    }
    return lines.toString();
  }

  /** Prints to a terminal of some width, or to a file or pipe. Used by one thread. */
  public static final class TerminalWriter extends PrintWriter {
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
}
