package io.gameq.writer.schema;

import io.gameq.mysql.MySqlServerCheck;
import io.gameq.mysql.schema.TableFix;
import io.gameq.terminal.ExitCodes;
import io.gameq.writer.config.ConfigOption;
import io.gameq.writer.config.WriterConfig;
import io.gameq.writer.mysql.MigrationPlan;
import io.gameq.writer.mysql.SchemaDatabase;
import java.io.PrintWriter;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code schema check}: says what is amiss and changes nothing. */
@Command(
    name = "check",
    description = "Says whether the server and the configured tables suit gameq; changes nothing.")
final class SchemaCheckCommand implements Callable<Integer> {
  @Spec private @Nullable CommandSpec spec;
  @Mixin private ConfigOption config = new ConfigOption();
  @Mixin private MySqlLogin login = new MySqlLogin();

  @Option(
      names = "--fix-sql",
      description = {
        "Print the statements that end what stands against tables, as a script to be looked",
        "through and run; nothing else is printed."
      })
  private boolean fixSql;

  /** Returns 1 when anything is not as it must be; warnings alone give 0. */
  @Override
  public Integer call() {
    WriterConfig wanted = config.read();
    PrintWriter out = Objects.requireNonNull(spec).commandLine().getOut();
    SchemaReport report = new SchemaReport(out, "");
    try (SchemaDatabase database = SchemaDatabase.open(login.of(wanted.mysql()))) {
      MySqlServerCheck server = database.serverCheck();
      if (fixSql) {
        return printFixes(out, server, database.fixes(wanted.requiredTables()));
      }
      report.server(server);
      MigrationPlan plan =
          database.plan(
              new MigrationPlan.Target(
                  wanted.namespace(), wanted.slots(), wanted.requiredTables(), false));
      report.tables(plan, database::warningsOfRows);
      report.rights();
      boolean good =
          server.refusals().isEmpty() && plan.steps().isEmpty() && plan.inspection().manageable();
      return good ? ExitCodes.OK : ExitCodes.FOUND_SOMETHING;
    }
  }

  private static int printFixes(PrintWriter out, MySqlServerCheck server, List<TableFix> fixes) {
    FixScript script = new FixScript(out);
    script.server(server.refusals());
    script.print(fixes);
    return server.refusals().isEmpty() && fixes.stream().noneMatch(TableFix::isNeeded)
        ? ExitCodes.OK
        : ExitCodes.FOUND_SOMETHING;
  }
}
