package io.gameq.writer.setup;

import io.gameq.mysql.schema.TableInspector.TableSpec;
import io.gameq.rights.MySqlRights;
import io.gameq.rights.RedisRights;
import io.gameq.writer.cli.AdminCommand;
import io.gameq.writer.config.WriterConfig;
import java.util.List;
import picocli.CommandLine.Command;

/** {@code security}: scripts that make users with the least rights. */
@Command(
    name = "security",
    description = "Prints the scripts that make users with the least rights.")
public final class SecurityCommand extends AdminCommand {
  @Command(
      name = "redis",
      description = {
        "Prints the lines for redis-cli that make the users of nodes, writers and gameq-recovery.",
        "Put the hashes of their passwords in the place of NODE_SHA256 and so on, as envsubst does."
      })
  void redis() {
    RedisRights.script(config().read().namespace()).forEach(out()::println);
  }

  @Command(
      name = "mysql",
      description = {
        "Prints the SQL that makes the users of nodes, writers, gameq-recovery and 'schema"
            + " migrate'.",
        "Put their passwords in the place of NODE_PASSWORD and so on, as envsubst does."
      })
  void mysql() {
    WriterConfig wanted = config().read();
    List<String> tables = wanted.requiredTables().stream().map(TableSpec::name).toList();
    MySqlRights.script(wanted.namespace(), wanted.mysql().database(), tables)
        .forEach(out()::println);
  }
}
