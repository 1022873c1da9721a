package io.gameq.recovery;

import io.gameq.healing.PlannedRow;
import io.gameq.healing.PlannedRow.Status;
import io.gameq.healing.Planner;
import io.gameq.recovery.ServerOptions.RecoveryServers;
import io.gameq.terminal.ExitCodes;
import io.gameq.terminal.Shown;
import java.io.PrintWriter;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** {@code verify}: compares WALs, Redis and MySQL row by row. */
@Command(
    name = "verify",
    description =
        "Compares the newest change of each row in WALs with what Redis and MySQL hold, versions"
            + " and values. Changes nothing.",
    footer = {
      "",
      "Exit code 0: MySQL holds every row, in its version and with its values, or a newer one, and"
          + " nobody writes these WALs any more: nothing needs them (with --owner: nothing of these"
          + " owners).",
      "Exit code 1: a row is missing, older or different, was refused, or a WAL is damaged: act on"
          + " it.",
      "Exit code 3: nothing to act on, but keep the WALs, and verify again later: some rows are"
          + " only in Redis, on their way to MySQL, or a node is alive and writes on."
    })
final class VerifyCommand extends WalCommand.PlannedCommand {
  /** Nothing to act on, but WALs have what MySQL has not. */
  static final int KEEP_THE_WALS = 3;

  @Option(
      names = "--limit",
      paramLabel = "N",
      description = "Most differences to print (default: ${DEFAULT-VALUE}).")
  private int limit = 20;

  @Option(
      names = "--json",
      description =
          "One JSON object a line for each difference, with values, then one with the counts;"
              + " nothing else.")
  private boolean json;

  @Override
  int call(RecoveryServers open, ProgressLine progress) {
    PrintWriter out = out();
    int[] printed = {0};
    Plan plan =
        plan(
            open,
            progress,
            new Planner.Options(owners(), true, json, true),
            row -> {
              if (row.status().callsForAction() && (json || printed[0]++ < limit)) {
                progress.end();
                out.println(json ? asJson(row) : asText(row));
              }
            });
    boolean isClean = plan.exitCode() == ExitCodes.OK;
    boolean isAlive = !plan.planner().alive().isEmpty();
    if (json) {
      out.println(asJson(plan));
    } else {
      if (printed[0] > limit) {
        out.println("... and " + Plan.number(printed[0] - limit) + " more: --limit or --json");
      }
      plan.print(out, false);
      out.println();
      out.println(
          isClean
              ? conclusion(plan.rows(Status.IN_REDIS), isAlive)
              : "Something is left to act on. Keep the WALs.");
    }
    // A loss of Redis, or the next commit, makes these WALs the only place that has a row.
    return isClean && (plan.rows(Status.IN_REDIS) > 0 || isAlive) ? KEEP_THE_WALS : plan.exitCode();
  }

  private String conclusion(long inRedis, boolean isAlive) {
    if (inRedis > 0) {
      return ("%s only in Redis, and lost if Redis loses them: keep the WALs, and verify again"
              + " once writers have flushed.")
          .formatted(Shown.count(inRedis, "row"));
    }
    if (isAlive) {
      return "All of it is in MySQL, but a node is alive and writes on: keep its WAL.";
    }
    return owners().isEmpty()
        ? "All of it is in MySQL: these WALs may be removed."
        : "All of it is in MySQL, of these owners. Keep the WALs: others were not compared.";
  }

  /** {@code item:42,3 of player:42: lost, version 7 (...); MySQL has version 5, Redis none} */
  private static String asText(PlannedRow row) {
    String reason = row.reason();
    return "%s %s: %s, version %s; MySQL has %s, Redis has %s%s"
        .formatted(
            Shown.text(row.change().key()),
            Shown.whose(row.owner()),
            difference(row),
            Shown.version(row.change().version()),
            version(row.mysqlVersion()),
            version(row.redisVersion()),
            reason.isEmpty() ? "" : ": " + Shown.text(reason));
  }

  /** An engineer asks whether there is something older, or nothing. */
  private static String difference(PlannedRow row) {
    if (row.status() == Status.LOST) {
      return row.mysqlVersion() == null && row.redisVersion() == null ? "missing" : "older";
    }
    return Shown.lower(row.status()).replace('_', ' ');
  }

  private static String version(@Nullable Long version) {
    return version == null ? "none" : "version " + Long.toUnsignedString(version);
  }

  private static String asJson(PlannedRow row) {
    Map<String, @Nullable Object> line = RowJson.of(row);
    line.put("difference", difference(row));
    line.put("wal", RowJson.columns(row.wal()));
    line.put("mysql", RowJson.columns(row.mysql()));
    line.put("redis", RowJson.columns(row.redis()));
    return RowJson.text(line);
  }

  private static String asJson(Plan plan) {
    Map<String, Long> line = new LinkedHashMap<>();
    line.put("rows", plan.all());
    line.put("owners", plan.allOwners());
    line.put("messageChanges", plan.messages().changes());
    line.put("messagesLacking", plan.messages().lacking());
    for (Status status : Status.values()) {
      line.put(Shown.lower(status), plan.rows(status));
    }
    return RowJson.text(line);
  }
}
