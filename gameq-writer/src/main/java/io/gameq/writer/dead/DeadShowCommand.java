package io.gameq.writer.dead;

import io.gameq.terminal.ExitCodes;
import io.gameq.terminal.Shown;
import io.gameq.terminal.TextTable;
import io.gameq.writer.letters.AuditedLetters;
import io.gameq.writer.letters.LetterDetail;
import io.gameq.writer.letters.LetterDetail.ColumnDetail;
import io.gameq.writer.letters.LetterFilter;
import io.gameq.writer.letters.LetterName;
import io.gameq.writer.letters.ListedLetter;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code dead show}: one dead letter in full, beside what MySQL holds. */
@Command(
    name = "show",
    description = "Shows a dead letter, its row, and the row that MySQL holds now.",
    footer = {"", "A star marks the columns in which the two differ."})
final class DeadShowCommand extends LetterCommand {
  @Parameters(paramLabel = "ID", description = "The id, as 'dead list' shows it.")
  private long id;

  @Option(
      names = "--values",
      description = "Show the values of the row, not only which differ; that is in the audit log.")
  private boolean withValues;

  /** Returns 1 when there is no such letter. */
  @Override
  int work(AuditedLetters letters) {
    LetterDetail detail = letters.show(id, withValues);
    if (detail == null) {
      return absent(id);
    }
    letter(out(), detail.letter());
    String undecodable = detail.undecodable();
    if (undecodable != null) {
      out().println(Shown.text(undecodable));
      return ExitCodes.OK;
    }
    List<List<String>> lines = new ArrayList<>();
    lines.add(List.of("", "(" + detail.op() + ")", detail.there()));
    String unnamed = "delete".equals(detail.op()) ? "" : "(left as it is)";
    detail.columns().forEach(column -> lines.add(line(column, detail.hasValues(), unnamed)));
    new TextTable(out(), "COLUMN", "DEAD LETTER", "MYSQL NOW").print(lines);
    if (!detail.hasValues()) {
      out().println("values are hidden: --values shows them");
    }
    return ExitCodes.OK;
  }

  private static void letter(PrintWriter out, ListedLetter letter) {
    LetterName name = letter.name();
    out.println("dead letter " + name.id());
    TextTable.withoutHeadings(out, 2)
        .print(
            List.of(
                List.of("  table", Shown.text(name.table())),
                List.of("  key", Shown.text(name.rowKey())),
                List.of("  owner", Shown.text(name.owner().id())),
                List.of("  version", Shown.version(name.version())),
                List.of("  state", LetterFilter.name(letter.state())),
                List.of("  error", letter.errorCode() + " " + Shown.text(letter.error())),
                List.of("  attempts", Integer.toString(letter.attempts())),
                List.of("  refused", Shown.utc(letter.refusedAt()) + " UTC")));
  }

  private static List<String> line(ColumnDetail column, boolean withValues, String unnamed) {
    String name = (column.differs() ? "* " : "  ") + Shown.text(column.name());
    if (!column.named()) {
      return List.of(name, unnamed, cell(column.present()));
    }
    return withValues
        ? List.of(name, cell(column.refused()), cell(column.present()))
        : List.of(name, column.differs() ? "differs" : "", "");
  }

  private static String cell(@Nullable String value) {
    return value == null ? "" : "= " + value;
  }
}
