package io.gameq.writer.dead;

import io.gameq.terminal.ExitCodes;
import io.gameq.terminal.Shown;
import io.gameq.writer.config.ConfigOption;
import io.gameq.writer.mysql.DeadLetters;
import io.gameq.writer.terminal.Confirmation;
import java.io.PrintWriter;
import java.util.Objects;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** {@code dead discard}: removes dead letters without writing their rows. */
@Command(
    name = "discard",
    description = "Removes dead letters for good: their rows are lost.",
    footer = {"", "Prints each one it removes. 'dead show' tells what is in it."})
final class DeadDiscardCommand implements Callable<Integer> {
  @Spec private @Nullable CommandSpec spec;
  @Mixin private ConfigOption config = new ConfigOption();
  @Mixin private LetterSelection selection = new LetterSelection();
  @Mixin private Confirmation confirmation = new Confirmation();

  /** Returns 1 when an id is unknown, or a letter changed and so was kept. */
  @Override
  public Integer call() {
    CommandSpec self = Objects.requireNonNull(spec);
    selection.check();
    PrintWriter out = self.commandLine().getOut();
    try (DeadLetters letters = DeadLetters.open(config.read().mysql())) {
      LetterSelection.Chosen chosen = selection.choose(letters, self.commandLine().getErr());
      if (chosen == null) {
        return ExitCodes.FOUND_SOMETHING;
      }
      if (chosen.count() > 0) {
        confirmation.require(
            "Discard %s for good?".formatted(Shown.count(chosen.count(), "dead letter")));
      }
      long[] counts = new long[2];
      chosen.forEach(
          letter -> {
            boolean discarded = letters.discard(letter);
            counts[discarded ? 0 : 1]++;
            out.println(
                (discarded ? "discarded " : "kept, it changed meanwhile: ")
                    + LetterName.of(letter));
          });
      out.println(Shown.count(counts[0], "dead letter") + " discarded");
      return counts[1] == 0 ? ExitCodes.OK : ExitCodes.FOUND_SOMETHING;
    }
  }
}
