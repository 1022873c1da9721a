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
    description = "Shows, retries and discards dead letters: rows that MySQL refused.",
    subcommands = {
      DeadListCommand.class,
      DeadShowCommand.class,
      DeadRetryCommand.class,
      DeadDiscardCommand.class
    })
public final class DeadCommand implements Runnable {
  @Spec private @Nullable CommandSpec spec;

  @Override
  public void run() {
    CommandSpec self = Objects.requireNonNull(spec);
    throw new CommandLine.ParameterException(
        self.commandLine(), "missing command: list, show, retry or discard");
  }
}
