package io.gameq.writer.stale;

import java.util.Objects;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** {@code stale}: the parent of the commands for stale rows. */
@Command(
    name = "stale",
    description =
        "Shows and discards stale rows: committed by a session after it had lost its owner to"
            + " another one. They lie in Redis and are never flushed.",
    subcommands = {StaleListCommand.class, StaleShowCommand.class, StaleDiscardCommand.class})
public final class StaleCommand implements Runnable {
  @Spec private @Nullable CommandSpec spec;

  @Override
  public void run() {
    CommandSpec self = Objects.requireNonNull(spec);
    throw new CommandLine.ParameterException(
        self.commandLine(), "missing command: list, show or discard");
  }
}
