package io.gameq.writer.dead;

import io.gameq.terminal.ExitCodes;
import io.gameq.writer.config.ConfigOption;
import io.gameq.writer.mysql.DeadLetterRetry;
import io.gameq.writer.mysql.DeadLetterRetry.Outcome;
import io.gameq.writer.mysql.DeadLetterRetry.Refused;
import io.gameq.writer.mysql.DeadLetters;
import java.io.PrintWriter;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

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
final class DeadRetryCommand implements Callable<Integer> {
  @Spec private @Nullable CommandSpec spec;
  @Mixin private ConfigOption config = new ConfigOption();
  @Mixin private LetterSelection selection = new LetterSelection();

  @Option(
      names = "--dry-run",
      description = "Try each one and roll it back; so none makes another one fit.")
  private boolean dryRun;

  /** Returns 1 when a letter was refused again, could not be tried, or an id is unknown. */
  @Override
  public Integer call() {
    CommandSpec self = Objects.requireNonNull(spec);
    selection.check();
    PrintWriter err = self.commandLine().getErr();
    try (DeadLetters letters = DeadLetters.open(config.read().mysql())) {
      LetterSelection.Chosen chosen = selection.choose(letters, err);
      if (chosen == null) {
        return ExitCodes.FOUND_SOMETHING;
      }
      RetryReport report =
          new RetryReport(self.commandLine().getOut(), err, chosen.count(), dryRun);
      retry(letters.retry(dryRun), chosen, report);
      report.summary();
      return report.allDone() ? ExitCodes.OK : ExitCodes.FOUND_SOMETHING;
    }
  }

  private void retry(DeadLetterRetry retry, LetterSelection.Chosen chosen, RetryReport report) {
    Map<Long, Waiting> waiting = new LinkedHashMap<>();
    chosen.forEach(
        letter -> {
          Outcome outcome = retry.retry(letter.id());
          if (outcome instanceof Refused refused && refused.curable()) {
            waiting.put(letter.id(), new Waiting(LetterName.of(letter), refused));
          } else {
            report.line(LetterName.of(letter), outcome);
          }
        });
    for (long before = 0; !dryRun && report.written() > before; ) {
      before = report.written();
      for (Map.Entry<Long, Waiting> of : List.copyOf(waiting.entrySet())) {
        String name = of.getValue().name();
        Outcome outcome = retry.retry(of.getKey());
        if (outcome instanceof Refused refused) {
          waiting.put(of.getKey(), new Waiting(name, refused));
        } else {
          waiting.remove(of.getKey());
          report.line(name, outcome);
        }
      }
    }
    waiting.values().forEach(of -> report.line(of.name(), of.refused()));
  }

  /** A letter that another one may make fit. */
  private record Waiting(String name, Refused refused) {}
}
