package io.gameq.recovery;

import io.gameq.healing.Planner;
import io.gameq.healing.Status;
import io.gameq.terminal.Shown;
import java.io.PrintWriter;
import java.nio.file.Path;
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
      "Exit code 0: everything is in MySQL, or in Redis on its way there. It does not say that the"
          + " WALs may go: 'verify' does."
    })
final class PlanCommand extends PlanningCommand {
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
          "Nodes that are alive put back what is missing: plan again in a minute; only if that does"
              + " not help, end them and plan with --include-live.");
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
}
