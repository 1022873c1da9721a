package io.gameq.recovery;

import io.gameq.GameQueueException;
import io.gameq.healing.PlannedRow;
import io.gameq.healing.PlannedRow.Status;
import io.gameq.healing.PlannedRow.WalRow;
import io.gameq.healing.Planner;
import io.gameq.recovery.ServerOptions.RecoveryServers;
import io.gameq.rows.RowImage;
import io.gameq.terminal.Shown;
import io.gameq.wal.WalDirectory;
import java.io.BufferedWriter;
import java.io.Closeable;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.UncheckedIOException;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

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
final class PlanCommand extends WalCommand.PlannedCommand {
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
  int call(RecoveryServers open, ProgressLine progress) {
    Planner.Options wanted = new Planner.Options(owners(), includeLive, details != null, false);
    Plan plan;
    try (Details files = details == null ? null : new Details(details)) {
      plan = plan(open, progress, wanted, files == null ? row -> {} : files::row);
    }
    plan.print(out(), true);
    printNext(out(), plan);
    return plan.exitCode();
  }

  private void printNext(PrintWriter out, Plan plan) {
    String into = servers.hasRedis() ? "" : " --into mysql";
    out.println();
    if (details != null) {
      out.println("Every row that is not in MySQL: " + details + "/plan.json and plan.csv");
    }
    out.print("Nothing was changed. ");
    if (!servers.hasRedis()) {
      out.println("Without --redis, Redis was taken for gone for good.");
    }
    if (plan.rows(Status.LOST) > 0
        || plan.restoredSessions() > 0
        || plan.messages().lacking() > 0) {
      out.println("To put back what is lost, now, beside running nodes and writers:");
      out.println("  " + command("", asArguments(" --owner ", owners), into));
    } else if (plan.rows(Status.LIVE) > 0) {
      out.println(
          "Nodes that are alive put back what is missing: plan again in a minute; only if that"
              + " does not help, end them and plan with --include-live.");
    } else {
      out.println("There is nothing to replay.");
    }
    if (plan.rows(Status.CONFLICT) + plan.rows(Status.PARKED) > 0) {
      String first =
          Stream.of(Status.values())
              .filter(Status::isConflict)
              .map(plan::named)
              .flatMap(Collection::stream)
              .map(named -> ServerOptions.quoted(Shown.text(named.owner.id())))
              .findFirst()
              .orElse("OWNER");
      out.println(
          "Conflicts are left alone: --details DIR shows what those players had, to compensate"
              + " them; or, owner by owner,");
      out.println("  " + command(" --conflicts apply --owner " + first, "", into));
    }
  }

  private String command(String before, String behind, String into) {
    return "gameq-recovery replay --execute"
        + before
        + into
        + servers.asArguments()
        + behind
        + (includeLive ? " --include-live" : "")
        + asArguments(" ", directories);
  }

  /**
   * Every row of a plan that is not simply in MySQL, with what was there before and what comes
   * after: {@code plan.json} (an array) and {@code plan.csv}, readable by their owner alone, since
   * they hold players' data. Not thread-safe.
   */
  private static final class Details implements Closeable {
    private static final String CSV_HEADINGS =
        "owner,table,key,op,session,version,time_utc,status,reason,mysql_version,"
            + "redis_version,mysql_before,redis_before,after";

    private final Path directory;
    private final Writer json;
    private final Writer csv;
    private String separator = "\n";

    /**
     * Begins both files; replaces those of an earlier plan.
     *
     * @throws GameQueueException when they cannot be written
     */
    Details(Path directory) {
      this.directory = directory;
      try {
        Files.createDirectories(directory, WalDirectory.permissions(directory, "rwx------"));
        json = writer(directory.resolve("plan.json"));
        csv = writer(directory.resolve("plan.csv"));
        json.write("[");
        csv.write(CSV_HEADINGS + "\n");
      } catch (IOException e) {
        throw cannotWrite(e);
      }
    }

    private GameQueueException cannotWrite(IOException e) {
      return new GameQueueException("cannot write details into " + directory + ": " + e, e);
    }

    private static Writer writer(Path file) throws IOException {
      Files.deleteIfExists(file);
      Files.createFile(file, WalDirectory.permissions(file, "rw-------"));
      return new BufferedWriter(
          Files.newBufferedWriter(file, StandardCharsets.UTF_8, StandardOpenOption.WRITE), 1 << 16);
    }

    void row(PlannedRow row) {
      if (row.status() == Status.IN_MYSQL) {
        return;
      }
      String op = Shown.lower(row.change().op());
      String status = Shown.lower(row.status());
      Map<String, @Nullable Object> object = RowJson.of(row);
      object.put("op", op);
      object.put("status", status);
      object.put("mysqlBefore", RowJson.columns(row.mysql()));
      object.put("redisBefore", RowJson.columns(row.redis()));
      object.put("after", RowJson.columns(row.wal()));
      try {
        json.write(separator + RowJson.text(object));
        separator = "\n,";
        csv.write(
            cells(row, op, status).stream()
                .map(cell -> cell == null ? "" : quoted(cell))
                .collect(Collectors.joining(",", "", "\n")));
      } catch (IOException e) {
        throw cannotWrite(e);
      }
    }

    private static List<@Nullable String> cells(PlannedRow row, String op, String status) {
      WalRow change = row.change();
      return Arrays.asList(
          row.owner().id(),
          change.table(),
          change.keyText(),
          op,
          Shown.by(change.owner(), change.session()),
          Long.toUnsignedString(change.version()),
          Shown.utc(Shown.time(change.version())),
          status,
          row.reason(),
          RowJson.version(row.mysqlVersion()),
          RowJson.version(row.redisVersion()),
          columns(row.mysql()),
          columns(row.redis()),
          columns(row.wal()));
    }

    private static String columns(@Nullable RowImage image) {
      Map<String, @Nullable Object> columns = RowJson.columns(image);
      return columns == null ? "" : RowJson.text(columns);
    }

    /** A spreadsheet runs what begins like a formula; a player may have named an item so. */
    private static String quoted(String cell) {
      boolean formula = !cell.isEmpty() && Set.of('=', '+', '-', '@').contains(cell.charAt(0));
      return '"' + (formula ? "'" : "") + cell.replace("\"", "\"\"") + '"';
    }

    @Override
    public void close() {
      try (csv;
          json) {
        json.write("\n]");
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
  }
}
