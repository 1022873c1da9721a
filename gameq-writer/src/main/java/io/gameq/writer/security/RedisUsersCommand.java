package io.gameq.writer.security;

import io.gameq.rights.RedisRights;
import io.gameq.terminal.ExitCodes;
import io.gameq.writer.config.ConfigOption;
import java.io.PrintWriter;
import java.util.Objects;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** {@code security redis}: the users of the namespace in Redis. */
@Command(
    name = "redis",
    description = {
      "Prints the lines for redis-cli that make the users of nodes, writers and gameq-recovery.",
      "Put the hashes of their passwords in the place of NODE_SHA256 and so on, as envsubst does."
    })
final class RedisUsersCommand implements Callable<Integer> {
  @Spec private @Nullable CommandSpec spec;
  @Mixin private ConfigOption config = new ConfigOption();

  @Override
  public Integer call() {
    PrintWriter out = Objects.requireNonNull(spec).commandLine().getOut();
    RedisRights.script(config.read().namespace()).forEach(out::println);
    return ExitCodes.OK;
  }
}
