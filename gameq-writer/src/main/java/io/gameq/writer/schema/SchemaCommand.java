package io.gameq.writer.schema;

import io.gameq.GameQueueException;
import io.gameq.mysql.MySqlPool.MySql;
import io.gameq.mysql.MySqlPool.MySqlConfig;
import io.gameq.mysql.MySqlServerCheck;
import io.gameq.mysql.schema.CatalogReader;
import io.gameq.mysql.schema.Settings;
import io.gameq.mysql.schema.TableInspector.TableSpec;
import io.gameq.mysql.tables.AuditTable;
import io.gameq.rows.CurrentCatalog.Catalog;
import io.gameq.rows.Table;
import io.gameq.terminal.ExitCodes;
import io.gameq.writer.cli.AdminCommand;
import io.gameq.writer.config.WriterConfig;
import io.gameq.writer.mysql.CommandServers;
import io.gameq.writer.mysql.MigrationPlan;
import io.gameq.writer.mysql.MigrationPlan.MigrationStep;
import io.gameq.writer.mysql.SchemaDatabase;
import io.gameq.writer.mysql.SchemaDatabase.DroppedColumns;
import io.gameq.writer.mysql.TableFix;
import io.gameq.writer.mysql.TableInspection;
import io.gameq.writer.schema.SchemaInitCommand.LoginOptions;
import io.gameq.writer.terminal.Confirmation;
import java.io.PrintWriter;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code schema}: the parent of the schema commands. */
@Command(
    name = "schema",
    description = "Prepares a database for gameq.",
    subcommands = {
      SchemaInitCommand.class,
      SchemaCommand.SchemaCheckCommand.class,
      SchemaCommand.SchemaMigrateCommand.class,
      SchemaCommand.SchemaDropColumnCommand.class,
      SchemaCommand.SchemaIdentityCommand.class
    })
public final class SchemaCommand {
  /** What the commands have in common. */
  abstract static class Subcommand extends AdminCommand {
    @Override
    public final Integer call() {
      return run(out()) ? ExitCodes.OK : ExitCodes.FOUND_SOMETHING;
    }

    /** Returns whether all is well. */
    abstract boolean run(PrintWriter out);
  }

  /** {@code schema new-identity}: tells a clone from the database that it is a copy of. */
  @Command(
      name = "new-identity",
      description =
          "Makes a clone another database than the one that it is a copy of, so that WALs of the"
              + " one are never replayed into the other.",
      footer = {
        "",
        "Run it in the clone, before nodes and writers start on it. A database that takes the place"
            + " of another keeps that one's identity: its WALs are to be replayed there. Where it"
            + " has none, as a backup of an older release, give it by --as."
      })
  static final class SchemaIdentityCommand extends Subcommand {
    @Mixin private Confirmation confirmation = new Confirmation();

    @Option(
        names = "--as",
        paramLabel = "ID",
        description = "The identity of the database whose place it takes (default: a new one).")
    private @Nullable String as;

    @Override
    boolean run(PrintWriter out) {
      if (as != null && !as.matches("[0-9a-f]{32}")) {
        throw new GameQueueException("--as takes an identity: 32 hex digits, as errors show them");
      }
      CommandServers servers = servers();
      MySqlConfig config = servers.settings().mysql();
      confirmation.require(
          "make %s at %s another database? WALs that were written for it are not replayed then"
              .formatted(config.database(), config.address()));
      MySql mysql = servers.mysql();
      String before = Settings.identity(mysql).database();
      String now = as == null ? UUID.randomUUID().toString().replace("-", "") : as;
      AuditTable.add(mysql, actor(), "schema new-identity", "database", before + " -> " + now);
      Settings.replace(mysql, Settings.DATABASE, before, now);
      out.println("this was database " + before + ", it is " + now + " now");

      return true;
    }
  }

  /** {@code schema check}: says what is amiss and changes nothing. */
  @Command(
      name = "check",
      description =
          "Says whether the server and the configured tables suit gameq; without --fix it changes"
              + " nothing.")
  static final class SchemaCheckCommand extends Subcommand {
    @Mixin private LoginOptions login = new LoginOptions();
    @Mixin private Confirmation confirmation = new Confirmation();

    @Option(
        names = "--fix-sql",
        description = {
          "Print a script that gives tables InnoDB, a primary key, binary collations and NOT NULL,",
          "to be read and run; it says in words what is left to do by hand."
        })
    private boolean fixSql;

    @Option(
        names = "--fix",
        description = {
          "Print that script, ask, and run it: it copies tables, and foreign keys in the way are",
          "gone until its end. What MySQL refuses of it is told, the rest is done."
        })
    private boolean fix;

    /** Returns 1 when anything is not as it must be; warnings alone give 0. */
    @Override
    boolean run(PrintWriter out) {
      WriterConfig wanted = config().read();
      try (SchemaDatabase database = SchemaDatabase.open(login.of(wanted.mysql()))) {
        MySqlServerCheck server = database.serverCheck();
        if (fixSql || fix) {
          TableFix.Script fixes = database.fixes(wanted.requiredTables());
          printFixes(out, server.refusals(), fixes);
          if (fix) {
            return isFixed(out, wanted, database, fixes);
          }
          return server.refusals().isEmpty()
              && fixes.tables().stream().noneMatch(TableFix::isNeeded);
        }
        SchemaReport report = new SchemaReport(out, "");
        report.server(server);
        MigrationPlan plan =
            database.plan(
                new MigrationPlan.Target(
                    wanted.namespace(), wanted.slots(), wanted.requiredTables(), false));
        report.own(plan);
        report.tables(plan, database::warningsOfRows);
        out.println(
            "users with the least rights: 'security mysql' and 'security redis' print the scripts");
        return server.refusals().isEmpty() && plan.steps().isEmpty() && plan.manageable();
      }
    }

    private boolean isFixed(
        PrintWriter out, WriterConfig wanted, SchemaDatabase database, TableFix.Script fixes) {
      if (fixes.tables().stream().noneMatch(of -> !of.statements().isEmpty())) {
        return fixes.tables().stream().noneMatch(TableFix::isNeeded);
      }
      out.flush();
      confirmation.require(
          "run this script in %s at %s? Keep it: a run that is killed leaves foreign keys dropped"
              .formatted(wanted.mysql().database(), wanted.mysql().address()));
      List<String> refused = database.apply(fixes);
      refused.forEach(of -> out.println("refused: " + of));
      boolean isWell = true;
      for (TableInspection table : database.inspect(wanted.requiredTables())) {
        String name = table.spec().name();
        isWell &= table.manageable();
        out.println(
            table.manageable()
                ? "table %s: ok".formatted(name)
                : "table %s: cannot be managed, %s"
                    .formatted(name, String.join("; ", table.reasons())));
      }
      return isWell && refused.isEmpty();
    }
  }

  /** {@code schema migrate}: brings a database to its configuration; again does nothing. */
  @Command(
      name = "migrate",
      description =
          "Creates gameq's own tables, adds gq_version to the configured ones and registers them.")
  static final class SchemaMigrateCommand extends Subcommand {
    @Mixin private LoginOptions login = new LoginOptions();

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
    boolean run(PrintWriter out) {
      WriterConfig wanted = config().read();
      MigrationPlan.Target target =
          new MigrationPlan.Target(
              wanted.namespace(), wanted.slots(), wanted.requiredTables(), allowRebuild);
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
        new SchemaReport(out, prefix).tables(plan, null);
        return plan.manageable();
      }
    }

    private static void print(PrintWriter out, MigrationStep step) {
      out.println(step.ways().get(0).sql() + ";");
      step.ways().stream()
          .skip(1)
          .forEach(way -> out.println("-- if the server cannot: " + way.sql()));
      if (step.ways().size() > 1) {
        out.println("-- else: " + step.remedy());
      }
    }
  }

  /** Prints findings, one line each, details indented below. */
  private static final class SchemaReport {
    private final PrintWriter out;
    private final String prefix;

    /** Every line begins with the prefix: "-- " among SQL. */
    SchemaReport(PrintWriter out, String prefix) {
      this.out = out;
      this.prefix = prefix;
    }

    void server(MySqlServerCheck server) {
      line(
          "server %s %s: %s"
              .formatted(
                  server.isMariaDb() ? "MariaDB" : "MySQL",
                  server.version(),
                  server.refusals().isEmpty() ? "ok" : "cannot be used"));
      details(server.refusals(), server.warnings());
    }

    /** A line for gameq's own tables. */
    void own(MigrationPlan plan) {
      boolean isMigrated =
          plan.steps().stream()
              .map(MigrationStep::purpose)
              .noneMatch(of -> of.startsWith("schema file") || of.startsWith("setting"));
      line("gameq's own tables: " + (isMigrated ? "ok" : "migrate needed"));
    }

    /**
     * A line for each configured table.
     *
     * @param ofRows warnings of what a table's rows hold; null: only tables that cannot be managed
     */
    void tables(MigrationPlan plan, @Nullable Function<TableSpec, List<String>> ofRows) {
      for (TableInspection table : plan.tables()) {
        String name = table.spec().name();
        if (!table.manageable()) {
          line("table %s: cannot be managed".formatted(name));
          details(table.reasons(), table.warnings());
        } else if (ofRows != null) {
          boolean isMigrated =
              plan.steps().stream().noneMatch(step -> step.purpose().endsWith(" of " + name));
          line("table %s: %s".formatted(name, isMigrated ? "ok" : "migrate needed"));
          details(table.reasons(), table.warnings());
          details(List.of(), ofRows.apply(table.spec()));
        }
      }
      plan.notices().forEach(notice -> line("notice: " + notice));
    }

    private void details(List<String> reasons, List<String> warnings) {
      reasons.forEach(reason -> line("    reason: " + reason));
      warnings.forEach(warning -> line("    warning: " + warning));
    }

    private void line(String text) {
      out.println(prefix + text);
    }
  }

  /** {@code schema drop-column}: tells writers that a column goes on purpose. */
  @Command(
      name = "drop-column",
      description =
          "Announces that columns of a table are dropped on purpose, before or after ALTER TABLE"
              + " does it.",
      footer = {
        "",
        "It drops nothing itself. Rows that nodes wrote with a value for such a column are written"
            + " without it; until it is announced they wait in Redis, and the table is parked."
      })
  static final class SchemaDropColumnCommand extends Subcommand {

    @Parameters(index = "0", paramLabel = "TABLE", description = "A managed table.")
    private String table = "";

    @Parameters(index = "1..*", arity = "1..*", paramLabel = "COLUMN", description = "Its columns.")
    private List<String> columns = List.of();

    @Option(names = "--undo", description = "Take it back: such rows wait again.")
    private boolean undo;

    @Override
    boolean run(PrintWriter out) {
      CommandServers servers = servers();
      MySql mysql = servers.mysql();
      Catalog catalog = CatalogReader.read(mysql);
      DroppedColumns dropped = new DroppedColumns(mysql);
      Table of = catalog.table(table); // refuses what is not managed
      Set<String> everKnown = dropped.everKnown(of.name());
      columns.forEach(column -> requireDroppable(of, column, everKnown));
      for (String column : columns) {
        AuditTable.add(
            mysql,
            actor(),
            undo ? "schema drop-column --undo" : "schema drop-column",
            "%s.%s".formatted(of.name(), column),
            "");
        out.println(undo ? undone(dropped, of, column) : announced(dropped, of, column));
      }

      return true;
    }

    private static String announced(DroppedColumns dropped, Table of, String column) {
      dropped.announce(of.name(), column);
      return "%s.%s: rows are written without it %s"
          .formatted(of.name(), column, of.has(column) ? "once it is dropped" : "from now on");
    }

    private static String undone(DroppedColumns dropped, Table of, String column) {
      return "%s.%s: %s"
          .formatted(
              of.name(),
              column,
              dropped.withdraw(of.name(), column)
                  ? "rows with a value for it wait when it is gone"
                  : "that was not announced");
    }

    private static void requireDroppable(Table of, String column, Set<String> everKnown) {
      if (!of.has(column) && !everKnown.contains(column)) {
        throw new GameQueueException(
            "table %s has no column %s, and no row was ever written with one"
                .formatted(of.name(), column));
      }
      if (of.has(column) && of.namesRowOrOwner(of.indexOf(column))) {
        throw new GameQueueException(
            "%s.%s names the row or its owner: without it gameq cannot manage the table"
                .formatted(of.name(), column));
      }
    }
  }

  /**
   * Prints fixes as one SQL script: words are comments, statements end in a semicolon at the end of
   * a line.
   */
  private static void printFixes(PrintWriter out, List<String> refusals, TableFix.Script script) {
    refusals.forEach(refusal -> comment(out, "server: " + refusal));
    if (script.tables().stream().allMatch(fix -> fix.statements().isEmpty())) {
      comment(out, "nothing that a statement mends");
    } else {
      comment(out, "Read it, try it on a copy, and keep it until its last statement has run. It");
      comment(out, "deletes no row and drops no column. Statements that name no columns (INSERT");
      comment(out, "INTO t VALUES ...) fail once gq_version is there.");
      out.println("SET SESSION sql_mode = CONCAT(@@SESSION.sql_mode, ',STRICT_ALL_TABLES');");
    }
    if (!script.dropKeys().isEmpty()) {
      comment(out, "Foreign keys in the way: let nobody write these tables until they are back.");
      script.dropKeys().forEach(sql -> out.println(sql + ";"));
    }
    for (TableFix fix : script.tables()) {
      if (fix.isNeeded()) {
        out.println();
        comment(out, "table " + fix.table().name());
        fix.mended().forEach(reason -> comment(out, "  mends: " + reason));
        fix.notes().forEach(note -> comment(out, "  note: " + note));
        fix.unmended().forEach(reason -> comment(out, "  by hand: " + reason));
        fix.statements().forEach(sql -> out.println(sql + ";"));
      }
    }
    out.println();
    script.addKeys().forEach(sql -> out.println(sql + ";"));
    comment(out, "then: gameq-writer schema migrate");
  }

  /** A name may hold a line break, which would end the comment. */
  private static void comment(PrintWriter out, String text) {
    out.println("-- " + text.replaceAll("\\R", " "));
  }
}
