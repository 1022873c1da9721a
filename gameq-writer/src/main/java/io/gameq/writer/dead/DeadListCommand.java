package io.gameq.writer.dead;

import io.gameq.agent.RateLimit;
import io.gameq.terminal.ExitCodes;
import io.gameq.terminal.Shown;
import io.gameq.terminal.TextTable;
import io.gameq.writer.dead.DeadCommand.FilterOptions;
import io.gameq.writer.letters.AuditedLetters;
import io.gameq.writer.letters.AuditedLetters.LetterName;
import io.gameq.writer.letters.ChosenLetters;
import io.gameq.writer.letters.ChosenLetters.LetterFilter;
import io.gameq.writer.letters.ChosenLetters.LetterPage;
import io.gameq.writer.letters.ChosenLetters.ListedLetter;
import io.gameq.writer.terminal.JsonLine;
import io.gameq.writer.terminal.RateOption;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
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
final class DeadListCommand extends LetterCommand {
  private static final int MOST_ERROR_CHARS = 60;

  /** Of one look at the database. */
  private static final int MOST_AT_ONCE = 256;

  @Spec private @Nullable CommandSpec self;
  @Mixin private FilterOptions filter = new FilterOptions();

  @Mixin private RateOption rate = new RateOption();

  @Option(
      names = "--limit",
      paramLabel = "N",
      description = "Most letters to list (default: ${DEFAULT-VALUE}).")
  private int limit = 100;

  @Option(
      names = "--after",
      paramLabel = "ID",
      description = "Only letters with higher ids: to go on where the last list ended.")
  private long after;

  @Option(
      names = "--json",
      description = "One JSON object a line, nothing else; times in UTC, versions as text.")
  private boolean json;

  @Override
  void check() {
    if (limit < 1) {
      throw new CommandLine.ParameterException(
          Objects.requireNonNull(self).commandLine(), "--limit is a number from 1 on");
    }
  }

  /** Returns 1 when there are letters. */
  @Override
  int work(AuditedLetters letters) {
    ChosenLetters chosen = letters.choose(filter.filter(List.of()));
    TextTable table =
        new TextTable(
                out(),
                "ID",
                "TABLE",
                "KEY",
                "OWNER",
                "VERSION",
                "STATE",
                "TRIES",
                "REFUSED (UTC)",
                "CODE",
                "ERROR")
            .leavingOut("VERSION", "TRIES", "CODE", "STATE");
    int listed = 0;
    long looked = 0;
    long next = after;
    RateLimit pace = rate.limit();
    do {
      LetterPage page = letters.page(chosen, next, Math.min(MOST_AT_ONCE, limit - listed));
      if (json) {
        page.letters().forEach(letter -> out().println(JsonLine.of(letter.values())));
      } else {
        table.print(page.letters().stream().map(DeadListCommand::cells).toList());
      }
      listed += page.letters().size();
      looked += page.looked();
      pace.take(page.looked());
      next = page.next();
    } while (next > 0 && listed < limit);
    if (!json) {
      out()
          .println(
              next > 0
                  ? String.format(
                      Locale.ROOT,
                      "%,d of %s: --limit shows more, --after %d the next ones",
                      listed,
                      chosen.total(looked),
                      next)
                  : Shown.count(listed, "dead letter"));
    }
    return listed == 0 ? ExitCodes.OK : ExitCodes.FOUND_SOMETHING;
  }

  private static List<String> cells(ListedLetter letter) {
    LetterName name = letter.name();
    return List.of(
        Long.toString(name.id()),
        Shown.text(name.table()),
        Shown.text(name.rowKey()),
        Shown.text(name.owner().id()),
        Long.toUnsignedString(name.version()),
        LetterFilter.name(letter.state()),
        Integer.toString(letter.attempts()),
        Shown.utc(letter.refusedAt()),
        Integer.toString(letter.errorCode()),
        Shown.cut(letter.error(), MOST_ERROR_CHARS));
  }
}
