package io.gameq.writer.admin;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.gameq.terminal.Shown;
import io.gameq.terminal.TextTable;
import java.io.PrintWriter;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The fields of a record, described once: prints records as a text table or as JSON lines, and
 * gives the console the same JSON objects.
 *
 * <pre>
 * RecordView&lt;Entry&gt; view =
 *     new RecordView&lt;Entry&gt;()
 *         .json("id", Entry::id)                          // in JSON alone
 *         .field("WHEN (UTC)", "at", Entry::at)           // in both: an Instant is UTC
 *         .field("BYTES", "bytes", Entry::bytes, of -&gt; "~" + of.bytes()) // with its own cell
 *         .column("AGE", of -&gt; Shown.duration(of.age()))  // in the table alone
 *         .leavingOut("AGE");
 * Consumer&lt;List&lt;Entry&gt;&gt; to = view.printer(out, isJson);       // page by page
 * </pre>
 *
 * <p>Table and JSON have the fields in the order in which they were added. A cell of text is
 * escaped, an enum is in lower case, null is {@code -}. Thread-safe once all fields are added.
 */
public final class RecordView<T> {
  private static final ObjectMapper JSON = new ObjectMapper();

  private final List<ViewColumn<T>> columns = new ArrayList<>();
  private final List<Function<T, Map<String, ? extends @Nullable Object>>> json = new ArrayList<>();
  private String[] leftOutFirst = {};

  private record ViewColumn<T>(String heading, Function<T, String> cell) {}

  /** In the table and in JSON. */
  public RecordView<T> field(
      String heading, String name, Function<T, ? extends @Nullable Object> value) {
    return field(heading, name, value, of -> cell(value.apply(of)));
  }

  /** In the table and in JSON, with a cell of its own, which is printed as it is. */
  public RecordView<T> field(
      String heading,
      String name,
      Function<T, ? extends @Nullable Object> value,
      Function<T, String> cell) {
    return json(name, value).column(heading, cell);
  }

  /** In JSON alone; give a version as text, it has more than 53 bits. */
  public RecordView<T> json(String name, Function<T, ? extends @Nullable Object> value) {
    return jsonOf(
        of -> {
          Map<String, @Nullable Object> one = new LinkedHashMap<>();
          Object found = value.apply(of);
          boolean isPlain = found instanceof Instant || found instanceof Enum<?>;
          one.put(name, isPlain ? plain(found) : found);
          return one;
        });
  }

  /** In JSON alone, fields that depend on the record. */
  public RecordView<T> jsonOf(Function<T, Map<String, ? extends @Nullable Object>> fields) {
    json.add(fields);
    return this;
  }

  /** In the table alone; the cell is printed as it is. */
  public RecordView<T> column(String heading, Function<T, String> cell) {
    columns.add(new ViewColumn<>(heading, cell));
    return this;
  }

  /** Which columns a narrow terminal does without first. */
  public RecordView<T> leavingOut(String... first) {
    leftOutFirst = first.clone();
    return this;
  }

  /** One JSON object. */
  public Map<String, @Nullable Object> json(T of) {
    Map<String, @Nullable Object> all = new LinkedHashMap<>();
    json.forEach(fields -> all.putAll(fields.apply(of)));
    return all;
  }

  /** Prints pages of records: JSON lines, or one table that goes on from page to page. */
  public Consumer<List<T>> printer(PrintWriter out, boolean isJson) {
    if (isJson) {
      return page -> page.forEach(of -> out.println(line(json(of))));
    }
    TextTable table =
        new TextTable(out, columns.stream().map(ViewColumn::heading).toArray(String[]::new))
            .leavingOut(leftOutFirst);
    return page -> table.print(page.stream().map(this::cells).toList());
  }

  /** Records as a page of the console shows them. */
  public record TableView(List<String> headings, List<List<String>> rows) {}

  /** The table's headings and cells. */
  public TableView table(List<T> of) {
    return new TableView(
        columns.stream().map(ViewColumn::heading).toList(), of.stream().map(this::cells).toList());
  }

  private List<String> cells(T of) {
    return columns.stream().map(column -> column.cell.apply(of)).toList();
  }

  private static String plain(Object value) {
    return value instanceof Enum<?> name ? Shown.lower(name) : value.toString();
  }

  private static String cell(@Nullable Object value) {
    if (value == null) {
      return "-";
    }
    return value instanceof Instant at ? Shown.utc(at) : Shown.text(plain(value));
  }

  /** A moment, ms since 1970, as text; null for 0, which stands for never. */
  public static @Nullable String moment(long millis) {
    return millis == 0 ? null : Instant.ofEpochMilli(millis).toString();
  }

  /**
   * One JSON object on one line: names and values in the order of the map: give a version as text,
   * it has more than 53 bits.
   */
  public static String line(Map<String, ?> values) {
    return JSON.<JsonNode>valueToTree(values).toString();
  }

  /** The same on many lines, for people. */
  public static String indented(Map<String, ?> values) {
    return JSON.<JsonNode>valueToTree(values).toPrettyString();
  }
}
