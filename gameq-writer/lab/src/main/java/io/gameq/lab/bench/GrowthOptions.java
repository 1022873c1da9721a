package io.gameq.lab.bench;

import io.gameq.lab.workload.Range;
import io.gameq.lab.workload.Workload;
import java.util.Set;
import java.util.TreeSet;
import picocli.CommandLine.Option;

/** The options of growth curves; a picocli mixin. */
final class GrowthOptions {
  /** What all players may have, and be. */
  private static final long MOST_ROWS = 50_000_000;

  private static final int MOST_PLAYERS = 1_000_000;

  @Option(
      names = "--growth",
      paramLabel = "KIND",
      split = ",",
      description =
          "Measure along curves, of players, backlog, writers, slots, rowbytes; each point in new"
              + " tables, with --actions at full pressure.")
  private Set<GrowthKind> kinds = Set.of();

  @Option(
      names = "--growth-max",
      paramLabel = "N",
      defaultValue = "0",
      description =
          "Where the curves of players and backlog end, at most 1000000 and 50000000 (default"
              + " 100000 and 1000000): every player is logged in, which takes time.")
  private long most;

  /** In the order in which they are measured. */
  Set<GrowthKind> kinds() {
    return new TreeSet<>(kinds);
  }

  /** Where players and backlog end; 0: where they do by default. */
  long most() {
    return most;
  }

  /** Throws ParameterException naming the option and its range. */
  void check(Range range, Workload.Shape shape) {
    long rowsOfAll = Math.min(MOST_ROWS, (long) MOST_PLAYERS * shape.rowsPerPlayer());
    long high = kinds.contains(GrowthKind.PLAYERS) ? MOST_PLAYERS : rowsOfAll;
    range.check("--growth-max", most, 0, high);
    range.require(
        most == 0 || most >= shape.threads(),
        "--growth-max is %s: it must be at least --threads, %s".formatted(most, shape.threads()));
    for (GrowthKind kind : kinds) {
      long last = kind.points(most).get(kind.points(most).size() - 1);
      if (kind == GrowthKind.PLAYERS) {
        range.check(
            "--growth-max times --rows-per-player", last * shape.rowsPerPlayer(), 1, MOST_ROWS);
      }
    }
  }
}
