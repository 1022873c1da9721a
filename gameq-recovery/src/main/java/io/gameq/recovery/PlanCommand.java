package io.gameq.recovery;

import io.gameq.healing.LeftMessages;
import io.gameq.healing.PlannedRow;
import io.gameq.healing.Planner;
import io.gameq.healing.Status;
import io.gameq.healing.WalSet;
import io.gameq.recovery.ServerOptions.Servers;
import io.gameq.terminal.Shown;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.Objects;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

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
final class PlanCommand implements Callable<Integer> {
  @Spec private @Nullable CommandSpec spec;
  @Mixin private ServerOptions servers = new ServerOptions();
  @Mixin private OwnerOption owners = new OwnerOption();
  @Mixin private WalArguments arguments = new WalArguments();

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
  public Integer call() {
    CommandSpec self = Objects.requireNonNull(spec);
    PrintWriter out = self.commandLine().getOut();
    ProgressLine progress = new ProgressLine(self.commandLine().getErr());
    WalSet wals = arguments.open();
    try (Servers open = servers.open(wals)) {
      PlanTotals totals = new PlanTotals(wals.folders().get(0).header().slots());
      Planner planner =
          new Planner(
              wals,
              open.lookups(),
              new Planner.Options(owners.encoded(), includeLive, details != null, false),
              progress::step);
      plan(planner, totals);
      progress.end();
      owners.requireFound(totals);
      Summary.wals(out, wals, planner.alive());
      Summary.totals(out, totals);
      Summary.named(out, totals);
      LeftMessages.Totals messages = LeftMessages.totals(open.lookups(), planner.gone());
      Summary.messages(out, messages);
      next(out, totals, messages);
      return RecoveryMain.exitCode(totals, messages, wals);
    }
  }

  private void plan(Planner planner, PlanTotals totals) {
    Path directory = details;
    if (directory == null) {
      planner.plan(totals);
      return;
    }
    try (PlanDetails files = new PlanDetails(directory)) {
      planner.plan(
          new Planner.Sink() {
            @Override
            public void row(PlannedRow row) {
              totals.row(row);
              files.row(row);
            }
          });
    }
  }

  private void next(PrintWriter out, PlanTotals totals, LeftMessages.Totals messages) {
    out.println();
    if (details != null) {
      out.println("Every row that is not in MySQL: " + details + "/plan.json and plan.csv");
    }
    out.print("Nothing was changed. ");
    if (!servers.hasRedis()) {
      out.println("Without --redis, Redis was taken for gone for good.");
    }
    if (totals.rows(Status.LOST) > 0 || totals.restoredSessions() > 0 || messages.lacking() > 0) {
      out.println("To put back what is lost, now, beside running nodes and writers:");
      out.println("  " + command("replay --execute" + (servers.hasRedis() ? "" : " --into mysql")));
    } else if (totals.rows(Status.LIVE) > 0) {
      out.println(
          "Nodes that are alive put back what is missing: plan again in a minute; only if that does"
              + " not help, end them and plan with --include-live.");
    } else {
      out.println("There is nothing to replay.");
    }
    if (totals.rows(Status.CONFLICT) + totals.rows(Status.PARKED) > 0) {
      out.println(
          "Conflicts are left alone: --details DIR shows what those players had, to compensate"
              + " them; or, owner by owner,");
      out.println(
          "  "
              + command(
                  "replay --execute --conflicts apply --owner "
                      + firstConflict(totals)
                      + (servers.hasRedis() ? "" : " --into mysql")));
    }
  }

  private static String firstConflict(PlanTotals totals) {
    for (Status status : Status.values()) {
      if (status.isConflict()) {
        for (PlanTotals.Named owner : totals.named(status)) {
          return ServerOptions.quoted(Shown.text(owner.owner().id()));
        }
      }
    }
    return "OWNER";
  }

  private String command(String command) {
    return "java -jar gameq-recovery.jar "
        + command
        + servers.asArguments()
        + (command.contains("--owner") ? "" : owners.asArguments())
        + (includeLive ? " --include-live" : "")
        + arguments.asArguments();
  }
}
