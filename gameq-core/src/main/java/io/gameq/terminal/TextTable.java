package io.gameq.terminal;

import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;

/**
 * Prints rows under headings, in columns as wide as their cells; row by row or page by page. Used
 * by one thread.
 */
public final class TextTable {
  /** A longer cell pushes only its own row to the right. */
  private static final int MOST_WIDTH = 48;

  private final PrintWriter out;
  private final List<String> headings;
  private final int[] widths;
  private boolean begun;

  public TextTable(PrintWriter out, String... headings) {
    this(out, List.of(headings), headings.length);
  }

  private TextTable(PrintWriter out, List<String> headings, int columns) {
    this.out = out;
    this.headings = headings;
    this.widths = new int[columns];
  }

  public static TextTable withoutHeadings(PrintWriter out, int columns) {
    return new TextTable(out, List.of(), columns);
  }

  /** Prints rows; those of later calls stand in the same columns as far as they fit. */
  public void print(List<List<String>> rows) {
    List<List<String>> lines = new ArrayList<>(rows);
    if (!begun && !rows.isEmpty() && !headings.isEmpty()) {
      lines.add(0, headings);
    }
    begun |= !rows.isEmpty();
    for (List<String> cells : lines) {
      for (int i = 0; i < widths.length; i++) {
        widths[i] = Math.max(widths[i], Math.min(MOST_WIDTH, cells.get(i).length()));
      }
    }
    lines.forEach(this::line);
  }

  private void line(List<String> cells) {
    StringBuilder line = new StringBuilder();
    for (int i = 0; i < widths.length; i++) {
      String cell = cells.get(i);
      line.append(cell).append(" ".repeat(Math.max(0, widths[i] - cell.length()) + 2));
    }
    out.println(line.toString().stripTrailing());
  }
}
