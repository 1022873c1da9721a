package io.gameq.writer.security;

import java.util.Objects;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** {@code security}: the parent of the security commands. */
@Command(
    name = "security",
    description = "Prints the scripts that make users with the least rights.",
    subcommands = {RedisUsersCommand.class, MySqlUsersCommand.class})
public final class SecurityCommand implements Runnable {
  @Spec private @Nullable CommandSpec spec;

  @Override
  public void run() {
    CommandSpec self = Objects.requireNonNull(spec);
    throw new CommandLine.ParameterException(self.commandLine(), "missing command: redis or mysql");
  }
}
