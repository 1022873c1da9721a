package io.gameq.writer.schema;

import io.gameq.terminal.ExitCodes;
import io.gameq.writer.config.ConfigOption;
import io.gameq.writer.config.WriterConfig;
import io.gameq.writer.mysql.MigrationPlan;
import io.gameq.writer.mysql.MigrationStep;
import io.gameq.writer.mysql.SchemaDatabase;
import java.io.PrintWriter;
import java.util.HashSet;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code schema migrate}: brings a database to its configuration; again does nothing. */
@Command(
    name = "migrate",
    description =
        "Creates gameq's own tables, adds gq_version to the configured ones and registers them.")
final class SchemaMigrateCommand implements Callable<Integer> {
  @Spec private @Nullable CommandSpec spec;
  @Mixin private ConfigOption config = new ConfigOption();
  @Mixin private MySqlLogin login = new MySqlLogin();

  @Option(names = "--dry-run", description = "Print the SQL and change nothing.")
  private boolean dryRun;

  @Option(
      names = "--allow-rebuild",
      description = {
        "Let the server copy a table to which it cannot add gq_version in place: for as long as"
            + " that takes,",
        "whoever writes the table waits."
      })
  private boolean allowRebuild;

  /** Returns 1 when a table cannot be managed; the others are migrated all the same. */
  @Override
  public Integer call() {
    WriterConfig wanted = config.read();
    MigrationPlan.Target target =
        new MigrationPlan.Target(
            wanted.namespace(), wanted.slots(), wanted.requiredTables(), allowRebuild);
    PrintWriter out = Objects.requireNonNull(spec).commandLine().getOut();
    try (SchemaDatabase database = SchemaDatabase.open(login.of(wanted.mysql()))) {
      database.serverCheck().requireUsable();
      // What stands among the SQL must not be SQL.
      String prefix = dryRun ? "-- " : "";
      MigrationPlan plan;
      if (dryRun) {
        plan = database.plan(target);
        plan.steps().forEach(step -> print(out, step));
      } else {
        Set<String> told = new HashSet<>(); // a file has several steps
        plan =
            database.migrate(
                target,
                done -> {
                  if (told.add(done)) {
                    out.println("done: " + done);
                  }
                });
      }
      if (plan.steps().isEmpty()) {
        out.println(prefix + "nothing to do");
      }
      new SchemaReport(out, prefix).unmanageable(plan);
      return plan.inspection().manageable() ? ExitCodes.OK : ExitCodes.FOUND_SOMETHING;
    }
  }

  private static void print(PrintWriter out, MigrationStep step) {
    out.println(step.sql() + ";");
    step.otherwise().forEach(way -> out.println("-- if the server cannot: " + way.sql()));
    if (!step.otherwise().isEmpty()) {
      out.println("-- else: " + step.remedy());
    }
  }
}
