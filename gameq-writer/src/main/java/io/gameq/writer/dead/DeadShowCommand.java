package io.gameq.writer.dead;

import io.gameq.mysql.tables.DeadLetterTable.Refused;
import io.gameq.mysql.tables.DeadLetterTable.Stored;
import io.gameq.rows.RowImage;
import io.gameq.terminal.ExitCodes;
import io.gameq.terminal.Shown;
import io.gameq.terminal.TextTable;
import io.gameq.writer.config.ConfigOption;
import io.gameq.writer.mysql.DeadLetters;
import io.gameq.writer.mysql.RowReading.Decoded;
import io.gameq.writer.mysql.RowReading.Present;
import io.gameq.writer.mysql.RowReading.Reading;
import io.gameq.writer.mysql.RowReading.Undecodable;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code dead show}: one dead letter in full, beside what MySQL holds. */
@Command(
    name = "show",
    description = "Shows a dead letter, its row, and the row that MySQL holds now.")
final class DeadShowCommand implements Callable<Integer> {
  @Spec private @Nullable CommandSpec spec;
  @Mixin private ConfigOption config = new ConfigOption();

  @Parameters(paramLabel = "ID", description = "The id, as 'dead list' shows it.")
  private long id;

  /** Returns 1 when there is no such letter. */
  @Override
  public Integer call() {
    CommandSpec self = Objects.requireNonNull(spec);
    PrintWriter out = self.commandLine().getOut();
    try (DeadLetters letters = DeadLetters.open(config.read().mysql())) {
      Stored letter = letters.find(id);
      if (letter == null) {
        self.commandLine().getErr().println("there is no dead letter " + id);
        return ExitCodes.FOUND_SOMETHING;
      }
      letter(out, letter, DeadListCommand.name(letters.states(List.of(letter)).get(0)));
      Refused row = letter.refused();
      Reading reading = letters.rows().read(row.key(), row.image());
      if (reading instanceof Decoded decoded) {
        rows(out, decoded.image(), letters.rows().present(row.owner(), decoded.key()));
      } else if (reading instanceof Undecodable undecodable) {
        out.println(
            "its row of %,d bytes cannot be decoded: %s"
                .formatted(row.image().length, Shown.text(undecodable.reason())));
      }
      return ExitCodes.OK;
    }
  }

  private static void letter(PrintWriter out, Stored letter, String state) {
    Refused row = letter.refused();
    out.println("dead letter " + letter.id());
    TextTable.withoutHeadings(out, 2)
        .print(
            List.of(
                List.of("  table", Shown.text(row.table())),
                List.of("  key", Shown.text(row.rowKey())),
                List.of("  owner", Shown.text(row.owner().id())),
                List.of("  version", Shown.version(row.version())),
                List.of("  state", state),
                List.of("  error", row.errorCode() + " " + Shown.text(row.errorText())),
                List.of("  attempts", Integer.toString(row.attempts())),
                List.of("  refused", Shown.utc(letter.refusedAt()) + " UTC")));
  }

  /** The two rows beside each other; a star where they differ. */
  private static void rows(PrintWriter out, RowImage image, Present present) {
    Map<String, String> refused = Shown.columns(image);
    RowImage row = present.row();
    Map<String, String> there = row == null ? Map.of() : Shown.columns(row);
    List<List<String>> lines = new ArrayList<>();
    lines.add(List.of("", "(" + image.op().name().toLowerCase(Locale.ROOT) + ")", there(present)));
    for (String column : (there.isEmpty() ? refused : there).keySet()) {
      String set = refused.get(column);
      String now = there.get(column);
      lines.add(
          List.of(
              (row != null && set != null && !set.equals(now) ? "* " : "  ") + column,
              set == null ? "" : "= " + set,
              now == null ? "" : "= " + now));
    }
    new TextTable(out, "COLUMN", "DEAD LETTER", "MYSQL NOW").print(lines);
  }

  private static String there(Present present) {
    RowImage row = present.row();
    if (row != null) {
      return "version " + Shown.version(row.version());
    }
    Long deleted = present.deletedVersion();
    return deleted == null ? "no such row" : "deleted in version " + Shown.version(deleted);
  }
}
