package io.gameq.writer.dead;

import io.gameq.terminal.ExitCodes;
import io.gameq.terminal.Shown;
import io.gameq.writer.letters.AuditedLetters;
import io.gameq.writer.letters.ChosenLetters;
import io.gameq.writer.terminal.Confirmation;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** {@code dead discard}: removes dead letters without writing their rows. */
@Command(
    name = "discard",
    description = "Removes dead letters for good: their rows are lost.",
    footer = {"", "Prints each one it removes. 'dead show' tells what is in it."})
final class DeadDiscardCommand extends LetterCommand {
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
