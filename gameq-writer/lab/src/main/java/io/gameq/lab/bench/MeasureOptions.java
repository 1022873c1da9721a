package io.gameq.lab.bench;

import io.gameq.config.GameQueueConfig;
import io.gameq.lab.workload.Range;
import io.gameq.lab.workload.Workload;
import java.util.EnumSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** The options that say how much is measured, and how; a picocli mixin. */
final class MeasureOptions {
  private static final long MOST_ACTIONS = 100_000_000;
  private static final int MOST_ROUNDS = 100;
  private static final int MOST_WARM_UP_SECONDS = 3_600;
  private static final int MOST_IN_FLIGHT = 10_000;
  private static final int MOST_WORKERS = 64;
  private static final int MOST_SLOTS = 1_024;
  private static final int MOST_MERGE_MILLIS = 600_000;
  private static final int MOST_SECONDS = 86_400;
  private static final int MOST_PER_SECOND = 10_000_000;
  private static final int MOST_REWRITES = 1_000;
  private static final long BACKLOG_ROWS = 200_000;

  @Option(
      names = "--parts",
      paramLabel = "PART",
      split = ",",
      description =
          "What to measure, of closed, paced, pressure, drain, limits (in each round), both,"
              + " logins, backlog, recovery, topics (once) (default: all but"
              + " topics; with --growth none).")
  private @Nullable Set<BenchOptions.Part> parts;

  @Option(
      names = "--actions",
      paramLabel = "N",
      defaultValue = "100000",
      description =
          "Actions of all threads in each part of a round, --threads to 100000000 (default"
              + " ${DEFAULT-VALUE}).")
  private long actions;

  @Option(
      names = "--rounds",
      paramLabel = "N",
      defaultValue = "3",
      description =
          "Rounds that count, 1 to 100; others before them warm up, see --warm-up (default"
              + " ${DEFAULT-VALUE}).")
  private int rounds;

  @Option(
      names = "--warm-up",
      paramLabel = "S",
      defaultValue = "30",
      description =
          "How long rounds that do not count go on before the others, two at least, s, 0 to 3600:"
              + " much time of the first ones is Java's compiler's (default ${DEFAULT-VALUE}).")
  private int warmUpSeconds;

  @Option(
      names = "--in-flight",
      paramLabel = "N",
      defaultValue = "256",
      description =
          "At full pressure, commits of each thread that wait for Redis, 1 to 10000 (default"
              + " ${DEFAULT-VALUE}).")
  private int inFlight;

  @Option(
      names = "--workers",
      paramLabel = "N",
      defaultValue = "2",
      description =
          "Threads of the writer, each with a MySQL connection, and connections of the raw MySQL"
              + " run, 1 to 64 (default ${DEFAULT-VALUE}).")
  private int workers;

  @Option(
      names = "--slots",
      paramLabel = "N",
      defaultValue = "" + GameQueueConfig.DEFAULT_SLOTS,
      description = "Slots of the namespace, a power of two, 1 to 1024 (default ${DEFAULT-VALUE}).")
  private int slots;

  @Option(
      names = "--merge-window",
      paramLabel = "MS",
      defaultValue = "1000",
      description =
          "How long dirty rows wait for later changes to merge, ms, 0 to 600000 (default"
              + " ${DEFAULT-VALUE}).")
  private int mergeWindowMillis;

  @Option(
      names = "--seconds",
      paramLabel = "S",
      defaultValue = "30",
      description = "Duration of the part 'both', s, 1 to 86400 (default ${DEFAULT-VALUE}).")
  private int seconds;

  @Option(
      names = "--rate",
      paramLabel = "N",
      defaultValue = "0",
      description =
          "In 'both', actions due per second, of all threads, 0 to 10000000; 0: closed loop"
              + " (default ${DEFAULT-VALUE}).")
  private int rate;

  @Option(
      names = "--backlog-rows",
      paramLabel = "N",
      description =
          "Rows that wait in the part 'backlog', 1 to the rows of all players (default 200000, or"
              + " as many as there are).")
  private @Nullable Long backlogRows;

  @Option(
      names = "--rewrites",
      paramLabel = "N",
      defaultValue = "10",
      description =
          "How often 'backlog' writes each waiting row again, 0 to 1000; the node's WAL keeps all"
              + " of it (default ${DEFAULT-VALUE}).")
  private int rewrites;

  @Option(
      names = "--deletes",
      paramLabel = "SHARE",
      defaultValue = "0",
      description =
          "Share of the row changes that delete their row, 0 to 1 (default ${DEFAULT-VALUE}).")
  private double deletes;

  @Option(
      names = "--hand-overs",
      paramLabel = "SHARE",
      defaultValue = "0",
      description =
          "Share of the actions after which their player logs out and in again, 0 to 1; between"
              + " rounds the node then looks which of them are in MySQL, about 20 a second (default"
              + " ${DEFAULT-VALUE}).")
  private double handOvers;

  double deletes() {
    return deletes;
  }

  /**
   * What was asked for. Throws ParameterException naming the option and its range.
   *
   * @param grows whether growth is measured
   */
  BenchOptions options(Range range, Workload.Shape shape, boolean grows) {
    range.checkShare("--hand-overs", handOvers);
    range.check("--actions", actions, shape.threads(), MOST_ACTIONS);
    range.check("--rounds", rounds, 1, MOST_ROUNDS);
    range.check("--warm-up", warmUpSeconds, 0, MOST_WARM_UP_SECONDS);
    range.check("--in-flight", inFlight, 1, MOST_IN_FLIGHT);
    range.check("--workers", workers, 1, MOST_WORKERS);
    range.require(
        slots >= 1 && slots <= MOST_SLOTS && Integer.bitCount(slots) == 1,
        "--slots is %s: it must be a power of two, 1 to %s".formatted(slots, MOST_SLOTS));
    range.check("--merge-window", mergeWindowMillis, 0, MOST_MERGE_MILLIS);
    range.check("--seconds", seconds, 1, MOST_SECONDS);
    range.check("--rate", rate, 0, MOST_PER_SECOND);
    long all = (long) shape.players() * shape.rowsPerPlayer();
    long waiting = backlogRows == null ? Math.min(BACKLOG_ROWS, all) : backlogRows;
    range.check("--backlog-rows", waiting, 1, all);
    range.check("--rewrites", rewrites, 0, MOST_REWRITES);
    Set<BenchOptions.Part> byDefault =
        grows
            ? EnumSet.noneOf(BenchOptions.Part.class)
            : EnumSet.complementOf(EnumSet.of(BenchOptions.Part.TOPICS));
    return new BenchOptions(
        shape,
        handOvers,
        actions,
        new BenchOptions.Rounds(rounds, warmUpSeconds),
        inFlight,
        workers,
        slots,
        mergeWindowMillis,
        new BenchOptions.Both(seconds, rate),
        new BenchOptions.Backlog(waiting, rewrites),
        parts == null ? byDefault : parts);
  }
}
