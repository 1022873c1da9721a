package io.gameq.writer.dead;

import io.gameq.mysql.tables.DeadLetterTable.Extent;
import io.gameq.mysql.tables.DeadLetterTable.Filter;
import io.gameq.mysql.tables.DeadLetterTable.Refused;
import io.gameq.mysql.tables.DeadLetterTable.Stored;
import io.gameq.terminal.ExitCodes;
import io.gameq.terminal.Shown;
import io.gameq.terminal.TextTable;
import io.gameq.writer.config.ConfigOption;
import io.gameq.writer.mysql.DeadLetters;
import io.gameq.writer.mysql.DeadLetters.State;
import io.gameq.writer.terminal.JsonLine;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code dead list}: dead letters, oldest first. */
@Command(
    name = "list",
    description = "Lists dead letters, oldest first; reads MySQL only.",
    footer = {
      "",
      "States: waiting (MySQL holds an older version of the row, or none), superseded (MySQL holds"
          + " this version or a newer one, or deleted the row since), unknown (the table is not"
          + " managed now)."
    })
final class DeadListCommand implements Callable<Integer> {
  private static final int MOST_ERROR_CHARS = 60;

  @Spec private @Nullable CommandSpec spec;
  @Mixin private ConfigOption config = new ConfigOption();
  @Mixin private FilterOptions filter = new FilterOptions();

  @Option(
      names = "--limit",
      paramLabel = "N",
      description = "Most letters to list (default: ${DEFAULT-VALUE}).")
  private int limit = 100;

  @Option(
      names = "--json",
      description = "One JSON object a line, nothing else; times in UTC, versions as text.")
  private boolean json;

  /** Returns 1 when there are letters. */
  @Override
  public Integer call() {
    PrintWriter out = Objects.requireNonNull(spec).commandLine().getOut();
    try (DeadLetters letters = DeadLetters.open(config.read().mysql())) {
      Filter wanted = filter.filter();
      Extent extent = letters.extent(wanted);
      long listed = list(letters, wanted, extent.lastId(), out);
      if (!json) {
        out.println(
            listed < extent.count()
                ? "%,d of %s: --limit shows more"
                    .formatted(listed, Shown.count(extent.count(), "dead letter"))
                : Shown.count(listed, "dead letter"));
      }
      return extent.count() == 0 ? ExitCodes.OK : ExitCodes.FOUND_SOMETHING;
    }
  }

  private long list(DeadLetters letters, Filter wanted, long lastId, PrintWriter out) {
    TextTable table =
        new TextTable(
            out,
            "ID",
            "TABLE",
            "KEY",
            "OWNER",
            "VERSION",
            "STATE",
            "TRIES",
            "REFUSED (UTC)",
            "CODE",
            "ERROR");
    long[] listed = {0};
    letters.pages(
        wanted,
        lastId,
        page -> {
          List<Stored> some =
              page.subList(0, (int) Math.min(page.size(), Math.max(0, limit - listed[0])));
          List<State> states = letters.states(some);
          List<List<String>> rows = new ArrayList<>();
          for (int i = 0; i < some.size(); i++) {
            if (json) {
              out.println(JsonLine.of(values(some.get(i), states.get(i))));
            } else {
              rows.add(cells(some.get(i), states.get(i)));
            }
          }
          table.print(rows);
          listed[0] += some.size();
          return listed[0] < limit;
        });
    return listed[0];
  }

  static String name(State state) {
    return state.name().toLowerCase(Locale.ROOT);
  }

  private static List<String> cells(Stored letter, State state) {
    Refused row = letter.refused();
    return List.of(
        Long.toString(letter.id()),
        Shown.text(row.table()),
        Shown.text(row.rowKey()),
        Shown.text(row.owner().id()),
        Long.toUnsignedString(row.version()),
        name(state),
        Integer.toString(row.attempts()),
        Shown.utc(letter.refusedAt()),
        Integer.toString(row.errorCode()),
        Shown.cut(row.errorText(), MOST_ERROR_CHARS));
  }

  private static Map<String, Object> values(Stored letter, State state) {
    Refused row = letter.refused();
    Map<String, Object> values = new LinkedHashMap<>();
    values.put("id", letter.id());
    values.put("table", row.table());
    values.put("key", row.rowKey());
    values.put("owner", row.owner().id());
    values.put("version", Long.toUnsignedString(row.version()));
    values.put("state", name(state));
    values.put("attempts", row.attempts());
    values.put("refusedAt", letter.refusedAt().toString());
    values.put("errorCode", row.errorCode());
    values.put("error", row.errorText());
    return values;
  }
}
