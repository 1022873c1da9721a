package io.gameq.writer.dead;

import io.gameq.terminal.ExitCodes;
import io.gameq.writer.letters.AuditedLetters;
import io.gameq.writer.letters.ChosenLetters;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

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
final class DeadRetryCommand extends LetterCommand {
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
    RetryReport report = new RetryReport(out(), new LetterProgress(err(), chosen.count()), dryRun);
    if (chosen.count() > 0) {
      letters.retry(chosen, dryRun, report::line);
    }
    report.summary();
    return report.allDone() ? ExitCodes.OK : ExitCodes.FOUND_SOMETHING;
  }
}
