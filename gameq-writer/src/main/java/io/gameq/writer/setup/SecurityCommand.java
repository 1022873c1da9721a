package io.gameq.writer.setup;

import io.gameq.mysql.schema.CatalogReader.TableSpec;
import io.gameq.rights.MySqlRights;
import io.gameq.rights.RedisRights;
import io.gameq.terminal.ExitCodes;
import io.gameq.writer.config.ConfigOption;
import io.gameq.writer.config.WriterConfig;
import java.io.PrintWriter;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** {@code security}: the parent of the security commands. */
@Command(
    name = "security",
    description = "Prints the scripts that make users with the least rights.",
    subcommands = {
      SecurityCommand.RedisUsersCommand.class,
      SecurityCommand.MySqlUsersCommand.class
    })
public final class SecurityCommand implements Runnable {
  @Spec private @Nullable CommandSpec spec;

  @Override
  public void run() {
    CommandSpec self = Objects.requireNonNull(spec);
    throw new CommandLine.ParameterException(self.commandLine(), "missing command: redis or mysql");
  }

  /** {@code security redis}: the users of the namespace in Redis. */
  @Command(
      name = "redis",
      description = {
        "Prints the lines for redis-cli that make the users of nodes, writers and gameq-recovery.",
        "Put the hashes of their passwords in the place of NODE_SHA256 and so on, as envsubst does."
      })
  static final class RedisUsersCommand implements Callable<Integer> {
    @Spec private @Nullable CommandSpec spec;
    @Mixin private ConfigOption config = new ConfigOption();

    @Override
    public Integer call() {
      PrintWriter out = Objects.requireNonNull(spec).commandLine().getOut();
      RedisRights.script(config.read().namespace()).forEach(out::println);
      return ExitCodes.OK;
    }
  }

  /** {@code security mysql}: the users of the database. */
  @Command(
      name = "mysql",
      description = {
        "Prints the SQL that makes the users of nodes, writers, gameq-recovery and 'schema"
            + " migrate'.",
        "Put their passwords in the place of NODE_PASSWORD and so on, as envsubst does."
      })
  static final class MySqlUsersCommand implements Callable<Integer> {
    @Spec private @Nullable CommandSpec spec;
    @Mixin private ConfigOption config = new ConfigOption();

    @Override
    public Integer call() {
      WriterConfig wanted = config.read();
      PrintWriter out = Objects.requireNonNull(spec).commandLine().getOut();
      List<String> tables = wanted.requiredTables().stream().map(TableSpec::name).toList();
      MySqlRights.script(wanted.namespace(), wanted.mysql().database(), tables)
          .forEach(out::println);
      return ExitCodes.OK;
    }
  }
}
