package io.gameq.writer.campaign;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;

/** A table for people (Markdown) and for programs (JSON). Used by one thread. */
public final class ReportTable {
  /**
   * One column; immutable.
   *
   * @param title for people
   * @param name for programs
   */
  public record Column(String title, String name) {}

  private final List<Column> columns;
  private final List<List<Object>> lines = new ArrayList<>();

  public ReportTable(List<Column> columns) {
    this.columns = List.copyOf(columns);
  }

  /** Adds a line: strings and numbers, one for each column. */
  public void add(Object... values) {
    if (values.length != columns.size()) {
      throw new IllegalArgumentException(values.length + " values for " + columns.size());
    }
    lines.add(List.of(values));
  }

  public String markdown() {
    StringBuilder table = new StringBuilder();
    table.append(row(columns.stream().map(Column::title).toList()));
    table.append(row(columns.stream().map(column -> "---").toList()).replace(" ", ""));
    for (List<Object> line : lines) {
      table.append(row(line.stream().map(value -> text(value, "%.1f")).toList()));
    }
    return table.toString();
  }

  private static String row(List<String> cells) {
    return "| " + String.join(" | ", cells) + " |\n";
  }

  private static String text(Object value, String decimals) {
    return value instanceof Double number
        ? String.format(Locale.ROOT, decimals, number)
        : value.toString();
  }

  private String json() {
    return lines.stream().map(this::jsonObject).collect(Collectors.joining(",\n", "[\n", "\n]\n"));
  }

  private String jsonObject(List<Object> line) {
    List<String> members = new ArrayList<>();
    for (int i = 0; i < columns.size(); i++) {
      Object value = line.get(i);
      String text = text(value, "%.2f");
      members.add(
          "\"%s\": %s"
              .formatted(
                  columns.get(i).name(), value instanceof Number ? text : "\"" + text + "\""));
    }
    return members.stream().collect(Collectors.joining(", ", "  {", "}"));
  }

  /** Writes {@code name.md} and {@code name.json}. */
  public void write(Path directory, String name) throws IOException {
    Files.writeString(directory.resolve(name + ".md"), markdown());
    Files.writeString(directory.resolve(name + ".json"), json());
  }
}
