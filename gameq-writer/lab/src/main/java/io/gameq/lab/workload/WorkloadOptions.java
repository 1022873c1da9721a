package io.gameq.lab.workload;

import picocli.CommandLine.Option;

/** The options that say what the game does; a picocli mixin. */
public final class WorkloadOptions {
  private static final int MOST_PLAYERS = 1_000_000;
  private static final int MOST_ROWS_PER_PLAYER = 10_000;

  /** What a commit takes by default. */
  private static final int MOST_ROWS_PER_COMMIT = 1_000;

  /** A row of a MySQL table has 65,535 bytes at most. */
  private static final int MOST_ROW_BYTES = 60_000;

  /** All rows have a place in memory, twice, where they are compared. */
  private static final long MOST_ROWS = 50_000_000;

  private static final int MOST_THREADS = 64;

  @Option(
      names = "--players",
      paramLabel = "N",
      defaultValue = "20000",
      description = "Players, each logged in once, 1 to 1000000 (default ${DEFAULT-VALUE}).")
  private int players;

  @Option(
      names = "--skew",
      paramLabel = "X",
      defaultValue = "0.99",
      description =
          "Exponent of Zipf's law by which actions choose players, 0 to 10; 0: all alike (default"
              + " ${DEFAULT-VALUE}).")
  private double skew;

  @Option(
      names = "--rows-per-player",
      paramLabel = "N",
      defaultValue = "20",
      description =
          "Rows that a player has, 1 to 10000; of all players at most 50 million (default"
              + " ${DEFAULT-VALUE}).")
  private int rowsPerPlayer;

  @Option(
      names = "--rows-per-commit",
      paramLabel = "N",
      defaultValue = "3",
      description =
          "Rows that an action changes and commits, 1 to 1000, at most --rows-per-player (default"
              + " ${DEFAULT-VALUE}).")
  private int rowsPerCommit;

  @Option(
      names = "--row-bytes",
      paramLabel = "BYTES",
      defaultValue = "100",
      description = "Bytes of a row's columns, 20 to 60000 (default ${DEFAULT-VALUE}).")
  private int rowBytes;

  @Option(
      names = "--threads",
      paramLabel = "N",
      defaultValue = "4",
      description = "Game threads, 1 to 64, at most --players (default ${DEFAULT-VALUE}).")
  private int threads;

  @Option(
      names = "--seed",
      paramLabel = "N",
      defaultValue = "1",
      description = "Repeats the players' choices (default ${DEFAULT-VALUE}).")
  private long seed;

  /**
   * What was asked for, with this share of deletes. Throws ParameterException naming the option and
   * its range.
   */
  public Workload.Shape shape(Range range, double deletes) {
    range.check("--players", players, 1, MOST_PLAYERS);
    range.require(skew >= 0 && skew <= 10, "--skew is " + skew + ": it must be 0 to 10");
    range.check("--rows-per-player", rowsPerPlayer, 1, MOST_ROWS_PER_PLAYER);
    range.require(
        (long) players * rowsPerPlayer <= MOST_ROWS,
        "--players times --rows-per-player is %s: it must be at most %s"
            .formatted((long) players * rowsPerPlayer, MOST_ROWS));
    range.check(
        "--rows-per-commit", rowsPerCommit, 1, Math.min(MOST_ROWS_PER_COMMIT, rowsPerPlayer));
    range.check("--row-bytes", rowBytes, Workload.FIXED_BYTES, MOST_ROW_BYTES);
    range.check("--threads", threads, 1, Math.min(MOST_THREADS, players));
    return new Workload.Shape(
        seed, players, skew, rowsPerPlayer, rowsPerCommit, rowBytes, deletes, threads);
  }
}
