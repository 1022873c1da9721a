package io.gameq.recovery;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import io.gameq.GameQueueException;
import io.gameq.healing.PlannedRow;
import io.gameq.healing.PlannedRow.Status;
import io.gameq.healing.PlannedRow.WalRow;
import io.gameq.healing.Planner;
import io.gameq.recovery.PlanningCommand.ProgressLine;
import io.gameq.recovery.PlanningCommand.Servers;
import io.gameq.rows.RowImage;
import io.gameq.terminal.ErrorLine;
import io.gameq.terminal.Shown;
import io.gameq.terminal.TextTable.TerminalWriter;
import java.io.BufferedWriter;
import java.io.Closeable;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.UncheckedIOException;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.Set;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.IVersionProvider;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ScopeType;
import picocli.CommandLine.Spec;

/** The command line: {@code gameq-recovery <command>}. Used by the main thread. */
@Command(
    name = "gameq-recovery",
    description =
        "What the engineer on call runs after a failover: finds in the write-ahead logs (WALs) of"
            + " game nodes what neither Redis nor MySQL holds, and puts it back.",
    mixinStandardHelpOptions = true,
    versionProvider = RecoveryMain.Version.class,
    scope = ScopeType.INHERIT,
    subcommands = {
      InspectCommand.class,
      RecoveryMain.PlanCommand.class,
      ReplayCommand.class,
      VerifyCommand.class
    },
    exitCodeOnInvalidInput = RecoveryMain.COULD_NOT_RUN,
    exitCodeOnExecutionException = RecoveryMain.COULD_NOT_RUN,
    exitCodeListHeading = "%nExit codes:%n",
    exitCodeList = {
      "0:clean; of verify: every row is in MySQL, its WALs may be removed",
      "1:differences, damage, or something left to act on",
      "2:wrong usage, or the command could not run",
      "3:only of verify: nothing is left to act on, but keep the WALs: rows that only Redis holds,"
          + " or a node that is alive and writes on"
    })
public final class RecoveryMain implements Runnable {
  static final int CLEAN = 0;
  static final int FOUND_SOMETHING = 1;
  static final int COULD_NOT_RUN = 2;

  /** Of verify: nothing to act on, but WALs have what MySQL has not. */
  static final int KEEP_THE_WALS = 3;

  @Spec private @Nullable CommandSpec spec;

  @Option(
      names = "--verbose",
      scope = ScopeType.INHERIT,
      description = "Print the stack trace of an error.")
  private boolean verbose;

  private final UnaryOperator<@Nullable String> environment;

  private RecoveryMain(UnaryOperator<@Nullable String> environment) {
    this.environment = environment;
  }

  /** The environment variable of this name, null when it is not set: passwords come from there. */
  @Nullable String environment(String name) {
    return environment.apply(name);
  }

  /** Without a command there is nothing to do but to say which ones there are. */
  @Override
  public void run() {
    throw new CommandLine.ParameterException(
        Objects.requireNonNull(spec).commandLine(), "missing command");
  }

  public static void main(String[] args) {
    System.exit(
        run(TerminalWriter.of(System.out), TerminalWriter.of(System.err), System::getenv, args));
  }

  /** Runs one command line and returns its exit code; does not end the JVM. */
  static int run(
      PrintWriter out,
      PrintWriter err,
      UnaryOperator<@Nullable String> environment,
      String... args) {
    RecoveryMain main = new RecoveryMain(environment);
    return new CommandLine(main)
        .setOut(out)
        .setErr(err)
        .setCaseInsensitiveEnumValuesAllowed(true)
        .setExecutionExceptionHandler(
            (error, command, parsed) -> {
              command
                  .getErr()
                  .println(command.getCommandSpec().qualifiedName() + ": " + ErrorLine.of(error));
              if (main.verbose) {
                error.printStackTrace(command.getErr());
              }
              return COULD_NOT_RUN;
            })
        .execute(args);
  }

  /** The version in the jar's manifest. */
  static final class Version implements IVersionProvider {
    @Override
    public String[] getVersion() {
      String version = RecoveryMain.class.getPackage().getImplementationVersion();
      return new String[] {"gameq-recovery " + (version == null ? "(not packaged)" : version)};
    }
  }

  /** {@code plan}: what nodes that are gone committed and nobody holds any more. */
  @Command(
      name = "plan",
      description =
          "Says what of these WALs is in MySQL, in Redis or lost, and what replay would do. Changes"
              + " nothing.",
      footer = {
        "",
        "Exit code 0: everything is in MySQL, or in Redis on its way there. It does not say that"
            + " the WALs may go: 'verify' does."
      })
  static final class PlanCommand extends PlanningCommand {
    @Option(
        names = "--include-live",
        description =
            "Take WALs of nodes that gave a sign of life lately for those of nodes that are gone."
                + " Never a WAL that a process on this host writes.")
    private boolean includeLive;

    @Option(
        names = "--details",
        paramLabel = "DIR",
        description =
            "Write plan.json and plan.csv there: every row that is not in MySQL, with its values"
                + " before and after. They hold players' data; only you may read them.")
    private @Nullable Path details;

    @Override
    int call(Servers open, ProgressLine progress) {
      Planner.Options wanted = new Planner.Options(owners(), includeLive, details != null, false);
      Plan plan;
      try (PlanDetails files = details == null ? null : new PlanDetails(details)) {
        plan = plan(open, progress, wanted, files == null ? row -> {} : files::row);
      }
      plan.print(out(), true);
      next(out(), plan);
      return plan.exitCode();
    }

    private void next(PrintWriter out, Plan plan) {
      out.println();
      if (details != null) {
        out.println("Every row that is not in MySQL: " + details + "/plan.json and plan.csv");
      }
      out.print("Nothing was changed. ");
      if (!hasRedis()) {
        out.println("Without --redis, Redis was taken for gone for good.");
      }
      if (plan.rows(Status.LOST) > 0
          || plan.restoredSessions() > 0
          || plan.messages().lacking() > 0) {
        out.println("To put back what is lost, now, beside running nodes and writers:");
        out.println("  " + command("replay --execute" + (hasRedis() ? "" : " --into mysql")));
      } else if (plan.rows(Status.LIVE) > 0) {
        out.println(
            "Nodes that are alive put back what is missing: plan again in a minute; only if that"
                + " does not help, end them and plan with --include-live.");
      } else {
        out.println("There is nothing to replay.");
      }
      if (plan.rows(Status.CONFLICT) + plan.rows(Status.PARKED) > 0) {
        out.println(
            "Conflicts are left alone: --details DIR shows what those players had, to compensate"
                + " them; or, owner by owner,");
        out.println(
            "  "
                + command(
                    "replay --execute --conflicts apply --owner "
                        + firstConflict(plan)
                        + (hasRedis() ? "" : " --into mysql")));
      }
    }

    private static String firstConflict(Plan plan) {
      for (Status status : Status.values()) {
        if (status.isConflict()) {
          for (Plan.Named owner : plan.named(status)) {
            return quoted(Shown.text(owner.owner.id()));
          }
        }
      }
      return "OWNER";
    }

    private String command(String command) {
      return "gameq-recovery "
          + command
          + serversAsArguments()
          + (command.contains("--owner") ? "" : asArguments(" --owner ", owners))
          + (includeLive ? " --include-live" : "")
          + asArguments(" ", directories);
    }

    /**
     * Every row of a plan that is not simply in MySQL, with what was there before and what comes
     * after: {@code plan.json} (an array) and {@code plan.csv}, readable by their owner alone,
     * since they hold players' data. Not thread-safe.
     */
    private static final class PlanDetails implements Closeable {
      private static final String CSV_HEADINGS =
          "owner,table,key,op,session,version,time_utc,status,reason,mysql_version,"
              + "redis_version,mysql_before,redis_before,after";

      private final JsonGenerator json;
      private final Writer csv;
      private final Path directory;

      /**
       * Begins both files; replaces those of an earlier plan.
       *
       * @throws GameQueueException when they cannot be written
       */
      PlanDetails(Path directory) {
        this.directory = directory;
        try {
          Files.createDirectories(directory, attributes("rwx------"));
          json = new JsonFactory().createGenerator(writer(directory.resolve("plan.json")));
          csv = writer(directory.resolve("plan.csv"));
          json.writeStartArray();
          csv.write(CSV_HEADINGS + "\n");
        } catch (IOException e) {
          throw new GameQueueException("cannot write details into " + directory + ": " + e, e);
        }
      }

      private static Writer writer(Path file) throws IOException {
        Files.deleteIfExists(file);
        Files.createFile(file, attributes("rw-------"));
        return new BufferedWriter(
            Files.newBufferedWriter(file, StandardCharsets.UTF_8, StandardOpenOption.WRITE),
            1 << 16);
      }

      private static FileAttribute<?>[] attributes(String permissions) {
        return FileSystems.getDefault().supportedFileAttributeViews().contains("posix")
            ? new FileAttribute<?>[] {
              PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString(permissions))
            }
            : new FileAttribute<?>[0];
      }

      void row(PlannedRow row) {
        if (row.status() == Status.IN_MYSQL) {
          return;
        }
        try {
          writeJson(row);
          writeCsv(row);
        } catch (IOException e) {
          throw new GameQueueException("cannot write details into " + directory + ": " + e, e);
        }
      }

      private void writeJson(PlannedRow row) throws IOException {
        json.writeRaw("\n");
        json.writeStartObject();
        RowJson.write(json, row);
        json.writeStringField("op", row.change().op().name().toLowerCase(Locale.ROOT));
        json.writeStringField("status", row.status().name().toLowerCase(Locale.ROOT));
        RowJson.write(json, "mysqlBefore", row.mysql());
        RowJson.write(json, "redisBefore", row.redis());
        RowJson.write(json, "after", row.wal());
        json.writeEndObject();
      }

      private void writeCsv(PlannedRow row) throws IOException {
        WalRow change = row.change();
        List<@Nullable String> cells =
            Arrays.asList(
                row.owner().id(),
                change.table(),
                change.keyText(),
                change.op().name().toLowerCase(Locale.ROOT),
                Shown.by(change.owner(), change.session()),
                Long.toUnsignedString(change.version()),
                Shown.utc(Shown.time(change.version())),
                row.status().name().toLowerCase(Locale.ROOT),
                row.reason(),
                RowJson.version(row.mysqlVersion()),
                RowJson.version(row.redisVersion()),
                columns(row.mysql()),
                columns(row.redis()),
                columns(row.wal()));
        String separator = "";
        for (String cell : cells) {
          csv.write(separator);
          csv.write(cell == null ? "" : quoted(cell));
          separator = ",";
        }
        csv.write("\n");
      }

      private static String columns(@Nullable RowImage image) {
        return image == null ? "" : RowJson.value(columns -> RowJson.write(columns, image));
      }

      /** A spreadsheet runs what begins like a formula; a player may have named an item so. */
      private static String quoted(String cell) {
        boolean formula = !cell.isEmpty() && Set.of('=', '+', '-', '@').contains(cell.charAt(0));
        return '"' + (formula ? "'" : "") + cell.replace("\"", "\"\"") + '"';
      }

      @Override
      public void close() {
        try {
          json.writeRaw("\n");
          json.writeEndArray();
          json.close();
          csv.close();
        } catch (IOException e) {
          throw new UncheckedIOException(e);
        }
      }
    }
  }
}
