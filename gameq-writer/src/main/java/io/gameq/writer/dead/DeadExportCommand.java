package io.gameq.writer.dead;

import io.gameq.terminal.ExitCodes;
import io.gameq.writer.letters.AuditedLetters;
import io.gameq.writer.letters.ChosenLetters;
import io.gameq.writer.terminal.JsonLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code dead export}: dead letters as JSON lines. */
@Command(
    name = "export",
    description = "Prints dead letters as JSON, one object a line; changes nothing.",
    footer = {
      "",
      "Times are in UTC, versions and values are text, NULL is null, bytes are as 0x00ff."
    })
final class DeadExportCommand extends LetterCommand {
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
