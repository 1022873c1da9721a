package io.gameq.writer.security;

import io.gameq.mysql.schema.TableSpec;
import io.gameq.rights.MySqlRights;
import io.gameq.terminal.ExitCodes;
import io.gameq.writer.config.ConfigOption;
import io.gameq.writer.config.WriterConfig;
import java.io.PrintWriter;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** {@code security mysql}: the users of the database. */
@Command(
    name = "mysql",
    description = {
      "Prints the SQL that makes the users of nodes, writers, gameq-recovery and 'schema migrate'.",
      "Put their passwords in the place of NODE_PASSWORD and so on, as envsubst does."
    })
final class MySqlUsersCommand implements Callable<Integer> {
  @Spec private @Nullable CommandSpec spec;
  @Mixin private ConfigOption config = new ConfigOption();

  @Override
  public Integer call() {
    WriterConfig wanted = config.read();
    PrintWriter out = Objects.requireNonNull(spec).commandLine().getOut();
    List<String> tables = wanted.requiredTables().stream().map(TableSpec::name).toList();
    MySqlRights.script(wanted.namespace(), wanted.mysql().database(), tables).forEach(out::println);
    return ExitCodes.OK;
  }
}
