package io.gameq.writer.dead;

import java.util.Objects;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** {@code dead}: the parent of the commands for dead letters. */
@Command(
    name = "dead",
    description = "Shows, edits, retries, discards and exports dead letters: rows MySQL refused.",
    subcommands = {
      DeadListCommand.class,
      DeadShowCommand.class,
      DeadEditCommand.class,
      DeadRetryCommand.class,
      DeadDiscardCommand.class,
      DeadExportCommand.class
    })
public final class DeadCommand implements Runnable {
  @Spec private @Nullable CommandSpec spec;

  @Override
  public void run() {
    CommandSpec self = Objects.requireNonNull(spec);
    throw new CommandLine.ParameterException(
        self.commandLine(), "missing command: list, show, edit, retry, discard or export");
  }
}
