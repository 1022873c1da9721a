package io.gameq.writer.cli;

import com.fasterxml.jackson.core.JacksonException;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.gameq.GameQueueException;
import io.gameq.agent.RateLimit;
import io.gameq.mysql.tables.DeadLetterTable.Refused;
import io.gameq.terminal.ExitCodes;
import io.gameq.terminal.Shown;
import io.gameq.terminal.TextTable;
import io.gameq.writer.admin.DeadRows;
import io.gameq.writer.admin.DeadRows.Detail;
import io.gameq.writer.admin.DeadRows.Filter;
import io.gameq.writer.admin.DeadRows.LetterView;
import io.gameq.writer.admin.DeadRows.Selection;
import io.gameq.writer.admin.RecordView;
import io.gameq.writer.admin.StaleSessions.RowColumn;
import io.gameq.writer.mysql.DeadLetters;
import io.gameq.writer.mysql.DeadLetters.LetterState;
import io.gameq.writer.terminal.Confirmation;
import io.gameq.writer.terminal.RateOption;
import io.gameq.writer.terminal.TimeArgument;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Consumer;
import java.util.function.ToIntBiFunction;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code dead}: what is seen of dead letters of rows, and done with them. */
@Command(
    name = "dead",
    description = "Shows, edits, retries, discards and exports dead letters: rows MySQL refused.")
public final class DeadCommand extends AdminCommand {
  /** One statement reads them. */
  private static final int MOST_IDS = 1_000;

  /** Of one look at the database. */
  private static final int MOST_AT_ONCE = 256;

  private DeadRows deadRows() {
    return new DeadRows(new DeadLetters(servers().mysql()), actor());
  }

  private interface BatchAction {
    void on(DeadRows letters, Selection chosen, ResultReport report);
  }

  /** Works on letters; returns 1 when one is left, or as {@link #chosen} does. */
  private int each(ChoiceOptions choice, boolean isDryRun, BatchAction work) {
    return chosen(
        choice,
        (letters, chosen) -> {
          ResultReport report = new ResultReport(chosen.count(), isDryRun);
          if (chosen.count() > 0) {
            work.on(letters, chosen, report);
          }
          return report.sum("");
        });
  }

  /** Returns 1, and does nothing, when an id is unknown. */
  private int chosen(ChoiceOptions choice, ToIntBiFunction<DeadRows, Selection> work) {
    check(choice);
    DeadRows letters = deadRows();
    List<Long> unknown = letters.unknown(choice.ids);
    if (unknown.isEmpty()) {
      return work.applyAsInt(letters, letters.choose(choice.filter.filter(choice.ids)));
    }
    String ids = unknown.stream().map(String::valueOf).collect(Collectors.joining(", "));
    err().print("there is no dead letter " + ids);
    err().println(": nothing was done, 'dead list' shows those that there are");
    return ExitCodes.FOUND_SOMETHING;
  }

  private void check(ChoiceOptions choice) {
    boolean isFiltered = !choice.filter.filter(List.of()).isAll();
    if (Stream.of(!choice.ids.isEmpty(), isFiltered, choice.all).filter(is -> is).count() != 1) {
      throw wrong("give ids, or --all, or options such as --owner, --table or --code");
    }
    if (choice.ids.size() > MOST_IDS) {
      throw wrong(
          Shown.line("%,d ids are too many: give %,d at most", choice.ids.size(), MOST_IDS));
    }
  }

  @Command(
      name = "list",
      description = "Lists dead letters, oldest first; reads MySQL only.",
      footer = {
        "",
        "States: waiting (MySQL holds an older version of the row, or none), superseded (MySQL"
            + " holds this version or a newer one, or deleted the row since), unknown (the table is"
            + " not managed now)."
      })
  int list(
      @Mixin FilterOptions filter,
      @Mixin RateOption rate,
      @Option(
              names = "--limit",
              paramLabel = "N",
              defaultValue = "100",
              description = "Most letters to list (default: ${DEFAULT-VALUE}).")
          int limit,
      @Option(
              names = "--after",
              paramLabel = "ID",
              defaultValue = "0",
              description = "Only letters with higher ids: to go on where the last list ended.")
          long after,
      @Option(
              names = "--json",
              description = "One JSON object a line, nothing else; times in UTC, versions as text.")
          boolean json) {
    if (limit < 1) {
      throw wrong("--limit is a number from 1 on");
    }
    DeadRows letters = deadRows();
    Selection chosen = letters.choose(filter.filter(List.of()));
    Consumer<List<LetterView>> to = DeadRows.VIEW.printer(out(), json);
    int listed = 0;
    long looked = 0;
    long next = after;
    RateLimit pace = rate.limit();
    do {
      DeadRows.LetterPage page = chosen.page(next, Math.min(MOST_AT_ONCE, limit - listed));
      to.accept(page.letters());
      listed += page.letters().size();
      looked += page.looked();
      pace.take(page.looked());
      next = page.next();
    } while (next > 0 && listed < limit);
    if (!json) {
      out()
          .println(
              next > 0
                  ? Shown.line(
                      "%,d of %s: --limit shows more, --after %d the next ones",
                      listed, chosen.total(looked), next)
                  : Shown.count(listed, "dead letter"));
    }
    return listed == 0 ? ExitCodes.OK : ExitCodes.FOUND_SOMETHING;
  }

  /** Returns 1 when there is no such letter. */
  @Command(
      name = "show",
      description = "Shows a dead letter, its row, and the row that MySQL holds now.",
      footer = {"", "A star marks the columns in which the two differ."})
  int show(
      @Parameters(paramLabel = "ID", description = "The id, as 'dead list' shows it.") long id,
      @Option(
              names = "--values",
              description =
                  "Show the values of the row, not only which differ; that is in the audit log.")
          boolean withValues) {
    DeadRows letters = deadRows();
    Detail detail = letters.show(id, withValues);
    if (detail == null) {
      return absent(id);
    }
    print(detail);
    return ExitCodes.OK;
  }

  private int absent(long id) {
    err().println("there is no dead letter " + id);
    return ExitCodes.FOUND_SOMETHING;
  }

  private void print(Detail detail) {
    LetterView letter = detail.letter();
    Refused row = letter.row();
    out().println("dead letter " + letter.id());
    TextTable.withoutHeadings(out(), 2)
        .print(
            List.of(
                List.of("  table", Shown.text(row.table())),
                List.of("  key", Shown.text(row.rowKey())),
                List.of("  owner", Shown.text(row.owner().id())),
                List.of("  version", Shown.version(row.version())),
                List.of("  state", Shown.lower(letter.state())),
                List.of("  error", row.errorCode() + " " + Shown.text(row.errorText())),
                List.of("  attempts", Integer.toString(row.attempts())),
                List.of("  refused", Shown.utc(letter.stored().refusedAt()) + " UTC")));
    String undecodable = detail.undecodable();
    if (undecodable != null) {
      out().println(Shown.text(undecodable));
      return;
    }
    List<List<String>> lines = new ArrayList<>();
    lines.add(List.of("", "(" + detail.op() + ")", detail.there()));
    String unnamed = "delete".equals(detail.op()) ? "" : "(left as it is)";
    detail.columns().forEach(column -> lines.add(line(column, detail.hasValues(), unnamed)));
    new TextTable(out(), "COLUMN", "DEAD LETTER", "MYSQL NOW").print(lines);
    if (!detail.hasValues()) {
      out().println("values are hidden: --values shows them");
    }
  }

  private static List<String> line(RowColumn column, boolean withValues, String unnamed) {
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

  /** Returns 1 when an id is unknown, or a letter was not edited. */
  @Command(
      name = "edit",
      description = "Changes columns of the rows in dead letters; 'dead retry' writes them then.",
      footer = {
        "",
        "A value is checked as one that the game puts. Key columns, the owner column and gq_version"
            + " stay. The row keeps its version: a retry never replaces a newer row. A letter that"
            + " a newer change of its row took meanwhile is not edited. The audit log has the names"
            + " of the columns, never a value.",
        "",
        "Values: 5, 1.25, text as it is, 0x00ff for bytes, 2026-11-21, '2026-11-21 10:53:00' (UTC),"
            + " 10:53:00."
      })
  int edit(
      @Mixin ChoiceOptions choice, @Mixin ColumnOptions columns, @Mixin Confirmation confirmation) {
    check(choice);
    if (choice.ids.size() == 1) {
      long id = choice.ids.get(0);
      DeadRows letters = deadRows();
      Detail detail = letters.show(id, false);
      if (detail == null) {
        return absent(id);
      }
      // The revision of before the operator was asked for values.
      ResultReport report = new ResultReport(1, false);
      report.add(letters.edit(id, detail.revision(), columns.read()));
      return report.sum("");
    }
    return each(
        choice,
        false,
        (letters, chosen, report) -> {
          Map<String, @Nullable String> values = columns.read();
          String names = String.join(", ", values.keySet());
          confirmation.require("Set %s of %s?".formatted(names, chosen));
          letters.edit(chosen, values, report::add);
        });
  }

  /** Returns 1 when a letter was refused again, could not be tried, or an id is unknown. */
  @Command(
      name = "retry",
      description = "Writes the rows of dead letters to MySQL after all, each by itself.",
      footer = {
        "",
        "Never replaces a newer row and brings no deleted row back; writers and game nodes may run"
            + " meanwhile. A letter that is refused again stays, with the new error. One that needs"
            + " another row (a foreign key, a unique value) is tried again as long as others get"
            + " through."
      })
  int retry(
      @Mixin ChoiceOptions choice,
      @Option(
              names = "--dry-run",
              description = "Try each one and roll it back; so none makes another one fit.")
          boolean isDryRun) {
    return each(
        choice,
        isDryRun,
        (letters, chosen, report) -> letters.retry(chosen, isDryRun, report::add));
  }

  /** Returns 1 when an id is unknown, or a letter changed and so was kept. */
  @Command(
      name = "discard",
      description = "Removes dead letters for good: their rows are lost.",
      footer = {"", "Prints each one it removes. 'dead show' tells what is in it."})
  int discard(@Mixin ChoiceOptions choice, @Mixin Confirmation confirmation) {
    return each(
        choice,
        false,
        (letters, chosen, report) -> {
          confirmation.require("Discard %s for good?".formatted(chosen));
          letters.discard(chosen, report::add);
        });
  }

  /** Returns 1 when an id is unknown. */
  @Command(
      name = "export",
      description = "Prints dead letters as JSON, one object a line; changes nothing.",
      footer = {
        "",
        "Times are in UTC, versions and values are text, NULL is null, bytes are as 0x00ff."
      })
  int export(
      @Mixin ChoiceOptions choice,
      @Option(
              names = "--values",
              description = "With the values of the rows, not only the names of their columns.")
          boolean withValues) {
    return chosen(
        choice,
        (letters, chosen) -> {
          ResultReport report = new ResultReport(chosen.count(), false);
          letters.export(
              chosen,
              withValues,
              letter -> {
                out().println(RecordView.line(letter));
                report.progress();
              });
          return ExitCodes.OK;
        });
  }

  /** The dead letters that a command is to work on. */
  static final class ChoiceOptions {
    @Parameters(
        arity = "0..*",
        paramLabel = "ID",
        description = "Ids, as 'dead list' shows them; or give --all, or options such as --owner.")
    private List<Long> ids = new ArrayList<>();

    @Mixin private FilterOptions filter = new FilterOptions();

    @Option(names = "--all", description = "All dead letters.")
    private boolean all;
  }

  /** Which dead letters, by what they are. */
  static final class FilterOptions {
    @Spec(Spec.Target.MIXEE)
    private @Nullable CommandSpec command;

    @Option(
        names = "--owner",
        paramLabel = "OWNER",
        description = "Those of one owner, as the game writes it: player:42.")
    @Nullable String owner;

    @Option(names = "--table", paramLabel = "TABLE", description = "Those of one table.")
    @Nullable String table;

    @Option(
        names = "--code",
        paramLabel = "CODE",
        description =
            "Those with one error code: MySQL's, 0 for an error of gameq's own, -1 for a row that"
                + " belongs to another owner.")
    @Nullable String code;

    @Option(
        names = "--error",
        paramLabel = "TEXT",
        description = "Those whose error has this text in it, in capital letters or not.")
    @Nullable String error;

    @Option(
        names = "--since",
        paramLabel = "TIME",
        description = "Those refused since then: " + TimeArgument.FORMS)
    @Nullable String since;

    @Option(
        names = "--before",
        paramLabel = "TIME",
        description = "Those refused before then, given in the same way.")
    @Nullable String before;

    @Option(
        names = "--state",
        paramLabel = "STATE",
        completionCandidates = StateNames.class,
        description = "Those that are in a state now: ${COMPLETION-CANDIDATES}.")
    @Nullable String state;

    /** What a shell completes. */
    private static final class StateNames extends ArrayList<String> {
      private static final long serialVersionUID = 1L;

      StateNames() {
        super(Arrays.stream(LetterState.values()).map(of -> Shown.lower(of)).toList());
      }
    }

    /**
     * The filter; lets everything through when no option was given.
     *
     * @param ids empty for whichever
     */
    private Filter filter(List<Long> ids) {
      CommandSpec options = Objects.requireNonNull(command);
      return Filter.of(ids, name -> options.findOption("--" + name).getValue());
    }
  }

  /** The columns that an edit gives new values; mix it in. Used by one thread. */
  static final class ColumnOptions {
    private static final ObjectMapper JSON =
        new ObjectMapper()
            .enable(DeserializationFeature.FAIL_ON_READING_DUP_TREE_KEY)
            .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
            .enable(DeserializationFeature.USE_BIG_DECIMAL_FOR_FLOATS);

    @Spec(Spec.Target.MIXEE)
    private @Nullable CommandSpec command;

    @Option(
        names = "--set",
        paramLabel = "COLUMN[=VALUE]",
        description =
            "Set a column; without '=' its value is asked for. A value on the command line can be"
                + " seen by other users of the host and stays in the shell's history.")
    private List<String> set = new ArrayList<>();

    @Option(names = "--null", paramLabel = "COLUMN", description = "Set a column to NULL.")
    private List<String> toNull = new ArrayList<>();

    @Option(
        names = "--from",
        paramLabel = "FILE",
        description = "Set the columns that a JSON object in this file names; '-' reads stdin.")
    private @Nullable Path from;

    /**
     * The columns and their new values as text, null for NULL; asks for those that were not given.
     *
     * @throws CommandLine.ParameterException when none is named, or one twice
     * @throws GameQueueException when the file cannot be read, or there is no console to ask on
     */
    Map<String, @Nullable String> read() {
      Map<String, @Nullable String> columns = new LinkedHashMap<>();
      if (from != null) {
        fromJson(from).forEach((column, value) -> add(columns, column, value));
      }
      toNull.forEach(column -> add(columns, column, null));
      for (String given : set) {
        int equals = given.indexOf('=');
        String column = equals < 0 ? given : given.substring(0, equals);
        add(
            columns,
            column,
            equals < 0
                ? Confirmation.ask("Value of " + column + ": ")
                : given.substring(equals + 1));
      }
      if (columns.isEmpty()) {
        throw wrong("nothing to change: give --set, --null or --from");
      }
      return columns;
    }

    private void add(Map<String, @Nullable String> columns, String column, @Nullable String value) {
      if (columns.containsKey(column)) {
        throw wrong("column " + column + " is given twice");
      }
      columns.put(column, value);
    }

    private static Map<String, @Nullable String> fromJson(Path file) {
      JsonNode tree;
      try {
        tree =
            JSON.readTree(
                file.toString().equals("-") ? System.in.readAllBytes() : Files.readAllBytes(file));
      } catch (JacksonException e) { // its message quotes the text
        throw new GameQueueException(
            "%s is not JSON (line %s)".formatted(file, e.getLocation().getLineNr()));
      } catch (IOException e) {
        throw new GameQueueException("%s cannot be read".formatted(file), e);
      }
      if (tree == null || !tree.isObject()) {
        throw new GameQueueException(
            "%s must be one JSON object, as in {\"count\": 5, \"name\": null}".formatted(file));
      }
      Map<String, @Nullable String> columns = new LinkedHashMap<>();
      tree.properties()
          .forEach(
              of -> {
                JsonNode value = of.getValue();
                String text = value.isValueNode() ? value.asText() : value.toString();
                columns.put(of.getKey(), value.isNull() ? null : text);
              });
      return columns;
    }

    private CommandLine.ParameterException wrong(String problem) {
      return new CommandLine.ParameterException(
          Objects.requireNonNull(command).commandLine(), problem);
    }
  }
}
