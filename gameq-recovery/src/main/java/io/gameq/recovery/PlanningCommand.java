package io.gameq.recovery;

import io.gameq.GameQueueException;
import io.gameq.healing.Planner;
import io.gameq.recovery.ServerOptions.Servers;
import picocli.CommandLine.Mixin;

/** A command that plans what became of the rows of WALs, and so asks the servers. */
abstract class PlanningCommand extends WalCommand {
  @Mixin private ServerOptions servers = new ServerOptions();

  final ServerOptions servers() {
    return servers;
  }

  @Override
  public Integer call() {
    ProgressLine progress = new ProgressLine(commandLine().getErr());
    try (Servers open = servers.open(openWals())) {
      return call(open, progress);
    }
  }

  abstract int call(Servers open, ProgressLine progress);

  /** Plans all WALs; {@code sink} sees the rows too. */
  final Plan plan(
      Servers open, ProgressLine progress, Planner.Options options, Planner.Sink sink) {
    Plan plan = new Plan(open, options, progress);
    plan.planner()
        .plan(
            row -> {
              plan.row(row);
              sink.row(row);
            });
    progress.end();
    requireFound(plan);
    return plan;
  }

  /** Refuses owners of whom no WAL holds anything: they are misspelt, or the WAL is another. */
  final void requireFound(Plan plan) {
    if (!ownersAsGiven().isEmpty() && plan.all() == 0) {
      throw new GameQueueException(
          "these WALs hold no row of "
              + String.join(", ", ownersAsGiven())
              + ": is the owner right?");
    }
  }
}
