package io.gameq.writer.check;

import java.util.Objects;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** {@code config}: the parent of the command for the configuration file. */
@Command(
    name = "config",
    description = "Shows and checks the configuration.",
    subcommands = ConfigCheckCommand.class)
public final class ConfigCommand implements Runnable {
  @Spec private @Nullable CommandSpec spec;

  @Override
  public void run() {
    CommandSpec self = Objects.requireNonNull(spec);
    throw new CommandLine.ParameterException(self.commandLine(), "missing command: check");
  }
}
