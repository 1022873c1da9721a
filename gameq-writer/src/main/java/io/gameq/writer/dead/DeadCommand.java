package io.gameq.writer.dead;

import io.gameq.mysql.tables.DeadLetterFilter;
import io.gameq.owner.DurableSessions.OwnerId;
import io.gameq.terminal.ExitCodes;
import io.gameq.terminal.Shown;
import io.gameq.terminal.TextTable;
import io.gameq.writer.letters.AuditedLetters;
import io.gameq.writer.letters.AuditedLetters.EditOutcome;
import io.gameq.writer.letters.AuditedLetters.EditOutcome.Edited;
import io.gameq.writer.letters.AuditedLetters.EditOutcome.NotEditable;
import io.gameq.writer.letters.AuditedLetters.LetterName;
import io.gameq.writer.letters.ChosenLetters;
import io.gameq.writer.letters.ChosenLetters.LetterFilter;
import io.gameq.writer.letters.ChosenLetters.ListedLetter;
import io.gameq.writer.letters.LetterDetail;
import io.gameq.writer.letters.LetterDetail.ColumnDetail;
import io.gameq.writer.letters.RetryText;
import io.gameq.writer.mysql.DeadLetterRetry.Gone;
import io.gameq.writer.mysql.DeadLetterRetry.Outcome;
import io.gameq.writer.mysql.DeadLetterRetry.Superseded;
import io.gameq.writer.mysql.DeadLetterRetry.Written;
import io.gameq.writer.mysql.DeadLetters.State;
import io.gameq.writer.terminal.Confirmation;
import io.gameq.writer.terminal.JsonLine;
import io.gameq.writer.terminal.Moment;
import java.io.PrintWriter;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.StringJoiner;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code dead}: the parent of the commands for dead letters. */
@Command(
    name = "dead",
    description = "Shows, edits, retries, discards and exports dead letters: rows MySQL refused.",
    subcommands = {
      DeadListCommand.class,
      DeadCommand.DeadShowCommand.class,
      DeadCommand.DeadEditCommand.class,
      DeadCommand.DeadRetryCommand.class,
      DeadCommand.DeadDiscardCommand.class,
      DeadCommand.DeadExportCommand.class
    })
public final class DeadCommand implements Runnable {
  @Spec private @Nullable CommandSpec spec;

  @Override
  public void run() {
    CommandSpec self = Objects.requireNonNull(spec);
    throw new CommandLine.ParameterException(
        self.commandLine(), "missing command: list, show, edit, retry, discard or export");
  }

  /** {@code dead discard}: removes dead letters without writing their rows. */
  @Command(
      name = "discard",
      description = "Removes dead letters for good: their rows are lost.",
      footer = {"", "Prints each one it removes. 'dead show' tells what is in it."})
  static final class DeadDiscardCommand extends LetterCommand {
    @Mixin private LetterSelection selection = new LetterSelection();
    @Mixin private Confirmation confirmation = new Confirmation();

    @Override
    void check() {
      selection.check();
    }

    /** Returns 1 when an id is unknown, or a letter changed and so was kept. */
    @Override
    int work(AuditedLetters letters) {
      ChosenLetters chosen = selection.choose(letters);
      if (chosen == null) {
        return ExitCodes.FOUND_SOMETHING;
      }
      long[] counts = new long[2];
      if (chosen.count() > 0) {
        confirmation.require("Discard %s for good?".formatted(chosen));
        LetterProgress progress = new LetterProgress(err(), chosen.count());
        letters.discard(
            chosen,
            (letter, discarded) -> {
              counts[discarded ? 0 : 1]++;
              out().println((discarded ? "discarded " : "kept, it changed meanwhile: ") + letter);
              progress.one();
            });
      }
      out().println(Shown.count(counts[0], "dead letter") + " discarded");
      return counts[1] == 0 ? ExitCodes.OK : ExitCodes.FOUND_SOMETHING;
    }
  }

  /** {@code dead export}: dead letters as JSON lines. */
  @Command(
      name = "export",
      description = "Prints dead letters as JSON, one object a line; changes nothing.",
      footer = {
        "",
        "Times are in UTC, versions and values are text, NULL is null, bytes are as 0x00ff."
      })
  static final class DeadExportCommand extends LetterCommand {
    @Mixin private LetterSelection selection = new LetterSelection();

    @Option(
        names = "--values",
        description = "With the values of the rows, not only the names of their columns.")
    private boolean withValues;

    @Override
    void check() {
      selection.check();
    }

    /** Returns 1 when an id is unknown. */
    @Override
    int work(AuditedLetters letters) {
      ChosenLetters chosen = selection.choose(letters);
      if (chosen == null) {
        return ExitCodes.FOUND_SOMETHING;
      }
      LetterProgress progress = new LetterProgress(err(), chosen.count());
      letters.export(
          chosen,
          withValues,
          letter -> {
            out().println(JsonLine.of(letter));
            progress.one();
          });
      return ExitCodes.OK;
    }
  }

  /** {@code dead retry}: writes the rows of dead letters after all. */
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
  static final class DeadRetryCommand extends LetterCommand {
    @Mixin private LetterSelection selection = new LetterSelection();

    @Option(
        names = "--dry-run",
        description = "Try each one and roll it back; so none makes another one fit.")
    private boolean dryRun;

    @Override
    void check() {
      selection.check();
    }

    /** Returns 1 when a letter was refused again, could not be tried, or an id is unknown. */
    @Override
    int work(AuditedLetters letters) {
      ChosenLetters chosen = selection.choose(letters);
      if (chosen == null) {
        return ExitCodes.FOUND_SOMETHING;
      }
      RetryReport report =
          new RetryReport(out(), new LetterProgress(err(), chosen.count()), dryRun);
      if (chosen.count() > 0) {
        letters.retry(chosen, dryRun, report::line);
      }
      report.summary();
      return report.allDone() ? ExitCodes.OK : ExitCodes.FOUND_SOMETHING;
    }
  }

  /** Prints and counts what became of dead letters. Used by one thread. */
  static final class RetryReport {
    private final PrintWriter out;
    private final LetterProgress progress;
    private final boolean dryRun;
    private final Map<String, Long> counts = new LinkedHashMap<>();

    RetryReport(PrintWriter out, LetterProgress progress, boolean dryRun) {
      this.out = out;
      this.progress = progress;
      this.dryRun = dryRun;
    }

    void line(LetterName letter, Outcome outcome) {
      String kind = RetryText.kind(outcome);
      counts.merge(kind, 1L, Long::sum);
      out.println(letter + ": " + (dryRun ? "would be " : "") + kind + detail(outcome));
      progress.one();
    }

    void summary() {
      StringJoiner line = new StringJoiner(", ");
      line.add(Shown.count(done(), "dead letter"));
      counts.forEach((kind, count) -> line.add(String.format(Locale.ROOT, "%,d %s", count, kind)));
      out.println(line + (dryRun ? " (dry run: nothing was changed)" : ""));
    }

    /** Whether no letter is left. */
    boolean allDone() {
      return done() == count(new Written()) + count(new Superseded()) + count(new Gone());
    }

    private long done() {
      return counts.values().stream().mapToLong(Long::longValue).sum();
    }

    private long count(Outcome kind) {
      return counts.getOrDefault(RetryText.kind(kind), 0L);
    }

    private static String detail(Outcome outcome) {
      String why = RetryText.detail(outcome);
      return why.isEmpty() ? "" : " (" + why + ")";
    }
  }

  /** Says on stderr every few seconds how far a command is. Used by one thread. */
  static final class LetterProgress {
    private static final long EVERY_NANOS = TimeUnit.SECONDS.toNanos(5);

    private final PrintWriter err;
    private final long total;
    private long done;
    private long toldNanos = System.nanoTime();

    LetterProgress(PrintWriter err, long total) {
      this.err = err;
      this.total = total;
    }

    /** One more is done. */
    void one() {
      done++;
      if (System.nanoTime() - toldNanos >= EVERY_NANOS) {
        toldNanos = System.nanoTime();
        err.println(String.format(Locale.ROOT, "%,d of %,d dead letters done", done, total));
        err.flush();
      }
    }
  }

  /** The dead letters that a command is to work on; mix it in. Used by one thread. */
  static final class LetterSelection {
    /** One statement reads them. */
    private static final int MOST_IDS = 1_000;

    @Spec(Spec.Target.MIXEE)
    private @Nullable CommandSpec command;

    @Parameters(
        arity = "0..*",
        paramLabel = "ID",
        description = "Ids, as 'dead list' shows them; or give --all, or options such as --owner.")
    private List<Long> ids = new ArrayList<>();

    @Mixin private FilterOptions filter = new FilterOptions();

    @Option(names = "--all", description = "All dead letters.")
    private boolean all;

    /**
     * Checks that letters are chosen in one way only.
     *
     * @throws CommandLine.ParameterException otherwise
     */
    void check() {
      if ((ids.isEmpty() ? 0 : 1) + (filter.given() ? 1 : 0) + (all ? 1 : 0) != 1) {
        throw wrong("give ids, or --all, or options such as --owner, --table or --code");
      }
      if (ids.size() > MOST_IDS) {
        throw wrong(
            String.format(
                Locale.ROOT, "%,d ids are too many: give %,d at most", ids.size(), MOST_IDS));
      }
    }

    /** The one letter that is meant, or null when several may be. */
    @Nullable Long single() {
      return ids.size() == 1 ? ids.get(0) : null;
    }

    /** The letters; null when an id is unknown, which is said on the command's stderr. */
    @Nullable ChosenLetters choose(AuditedLetters letters) {
      List<Long> unknown = letters.unknown(ids);
      if (!unknown.isEmpty()) {
        Objects.requireNonNull(command)
            .commandLine()
            .getErr()
            .println(
                ("there is no dead letter %s: nothing was done, 'dead list' shows those that there"
                        + " are")
                    .formatted(
                        unknown.stream().map(String::valueOf).collect(Collectors.joining(", "))));
        return null;
      }
      return letters.choose(filter.filter(ids));
    }

    private CommandLine.ParameterException wrong(String problem) {
      return new CommandLine.ParameterException(
          Objects.requireNonNull(command).commandLine(), problem);
    }
  }

  /** The options that choose dead letters by what they are; mix them in. */
  static final class FilterOptions {
    @Option(
        names = "--owner",
        paramLabel = "OWNER",
        description = "Those of one owner, as the game writes it: player:42.")
    private @Nullable String owner;

    @Option(names = "--table", paramLabel = "TABLE", description = "Those of one table.")
    private @Nullable String table;

    @Option(
        names = "--code",
        paramLabel = "CODE",
        description =
            "Those with one error code: MySQL's, 0 for an error of gameq's own, -1 for a row that"
                + " belongs to another owner.")
    private @Nullable Integer code;

    @Option(
        names = "--error",
        paramLabel = "TEXT",
        description = "Those whose error has this text in it, in capital letters or not.")
    private @Nullable String error;

    @Option(
        names = "--since",
        paramLabel = "TIME",
        converter = Moment.class,
        description = "Those refused since then: " + Moment.FORMS)
    private @Nullable Instant since;

    @Option(
        names = "--before",
        paramLabel = "TIME",
        converter = Moment.class,
        description = "Those refused before then, given in the same way.")
    private @Nullable Instant before;

    @Option(
        names = "--state",
        paramLabel = "STATE",
        completionCandidates = StateNames.class,
        description = "Those that are in a state now: ${COMPLETION-CANDIDATES}.")
    private @Nullable State state;

    /** What a shell completes. */
    private static final class StateNames extends ArrayList<String> {
      private static final long serialVersionUID = 1L;

      StateNames() {
        super(Arrays.stream(State.values()).map(LetterFilter::name).toList());
      }
    }

    /** Whether one of them was given. */
    boolean given() {
      return !stored(List.of()).isAll() || state != null;
    }

    /**
     * The filter; lets everything through when none was given.
     *
     * @param ids empty for whichever
     * @throws io.gameq.GameQueueException when the owner is no owner id
     */
    LetterFilter filter(List<Long> ids) {
      return new LetterFilter(stored(ids), state);
    }

    private DeadLetterFilter stored(List<Long> ids) {
      return new DeadLetterFilter(
          ids, owner == null ? null : OwnerId.of(owner), table, code, error, since, before);
    }
  }

  /** {@code dead show}: one dead letter in full, beside what MySQL holds. */
  @Command(
      name = "show",
      description = "Shows a dead letter, its row, and the row that MySQL holds now.",
      footer = {"", "A star marks the columns in which the two differ."})
  static final class DeadShowCommand extends LetterCommand {
    @Parameters(paramLabel = "ID", description = "The id, as 'dead list' shows it.")
    private long id;

    @Option(
        names = "--values",
        description =
            "Show the values of the row, not only which differ; that is in the audit log.")
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

  /** {@code dead edit}: changes columns of rows before they are retried. */
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
  static final class DeadEditCommand extends LetterCommand {
    @Mixin private LetterSelection selection = new LetterSelection();
    @Mixin private ColumnOptions columns = new ColumnOptions();
    @Mixin private Confirmation confirmation = new Confirmation();

    @Override
    void check() {
      selection.check();
    }

    /** Returns 1 when an id is unknown, or a letter was not edited. */
    @Override
    int work(AuditedLetters letters) {
      Long single = selection.single();
      if (single != null) {
        LetterDetail detail = letters.show(single, false);
        if (detail == null) {
          return absent(single);
        }
        // The revision of before the operator was asked for values.
        Map<String, @Nullable String> values = columns.read();
        return told(detail.letter().name(), letters.edit(single, detail.revision(), values))
            ? ExitCodes.OK
            : ExitCodes.FOUND_SOMETHING;
      }
      ChosenLetters chosen = selection.choose(letters);
      return chosen == null ? ExitCodes.FOUND_SOMETHING : edit(letters, chosen);
    }

    private int edit(AuditedLetters letters, ChosenLetters chosen) {
      Map<String, @Nullable String> values = columns.read();
      long[] counts = new long[2];
      if (chosen.count() > 0) {
        confirmation.require("Set %s of %s?".formatted(String.join(", ", values.keySet()), chosen));
        LetterProgress progress = new LetterProgress(err(), chosen.count());
        letters.edit(
            chosen,
            values,
            (letter, outcome) -> {
              counts[told(letter, outcome) ? 0 : 1]++;
              progress.one();
            });
      }
      out().println(Shown.count(counts[0], "dead letter") + " edited");
      return counts[1] == 0 ? ExitCodes.OK : ExitCodes.FOUND_SOMETHING;
    }

    /** Prints what became of an edit; returns whether it was made. */
    private boolean told(LetterName letter, EditOutcome outcome) {
      if (outcome instanceof Edited) {
        out().println("edited " + letter);
        return true;
      }
      out()
          .println(
              letter
                  + (outcome instanceof NotEditable refused
                      ? ": not edited (%s)".formatted(Shown.text(refused.reason()))
                      : ": not edited, it changed meanwhile: look at it again"));
      return false;
    }
  }
}
