package io.gameq.lab.workload;

import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * What the game threads of a benchmark do. Immutable; the same shape always does the same.
 *
 * <p>A player belongs to one thread, so that the last change of each of its rows is known. Players
 * are chosen by Zipf's law, rows of a player evenly.
 */
public final class Workload {
  /** The table that actions write, and its columns; {@code payload} is as long as rows need. */
  public static final String TABLE = "bench_row";

  /** The same without gameq's column, for contenders that have no guard. */
  public static final String PEER_TABLE = "peer_row";

  /** Bytes of a row beside its payload: two BIGINT and an INT. */
  public static final int FIXED_BYTES = 20;

  private final Shape shape;
  private final double[] cumulative;

  /**
   * The shape of a workload.
   *
   * @param players owners
   * @param skew exponent of Zipf's law; 0: all players alike
   * @param rowsPerPlayer rows that a player has in all
   * @param rowsPerAction different rows that one action changes
   * @param rowBytes bytes of a row's columns, at least {@link #FIXED_BYTES}
   * @param deletes share of the changes that delete their row
   * @param threads game threads
   */
  public record Shape(
      long seed,
      int players,
      double skew,
      int rowsPerPlayer,
      int rowsPerAction,
      int rowBytes,
      double deletes,
      int threads) {
    /** Throws {@link IllegalArgumentException} that names what does not fit. */
    public Shape {
      require(threads >= 1, "threads must be at least 1");
      require(players >= threads, "there must be a player for each thread");
      require(skew >= 0 && skew <= 10, "skew must be 0 to 10");
      require(rowsPerPlayer >= 1, "rows of a player must be at least 1");
      require(
          rowsPerAction >= 1 && rowsPerAction <= rowsPerPlayer,
          "rows of a commit must be 1 to the rows of a player");
      require(rowBytes >= FIXED_BYTES, "bytes of a row must be at least " + FIXED_BYTES);
      require(deletes >= 0 && deletes <= 1, "the share of deletes must be 0 to 1");
    }

    private static void require(boolean ok, String message) {
      if (!ok) {
        throw new IllegalArgumentException(message);
      }
    }

    /** The same with another number that everything follows from. */
    public Shape withSeed(long other) {
      return new Shape(
          other, players, skew, rowsPerPlayer, rowsPerAction, rowBytes, deletes, threads);
    }

    public Shape withPlayers(int other) {
      return new Shape(seed, other, skew, rowsPerPlayer, rowsPerAction, rowBytes, deletes, threads);
    }

    public Shape withRowBytes(int other) {
      return new Shape(seed, players, skew, rowsPerPlayer, rowsPerAction, other, deletes, threads);
    }

    public Shape withThreads(int other) {
      return new Shape(seed, players, skew, rowsPerPlayer, rowsPerAction, rowBytes, deletes, other);
    }

    /** For a result. */
    public Map<String, Object> json() {
      Map<String, Object> json = new TreeMap<>();
      json.put("seed", seed);
      json.put("players", players);
      json.put("skew", skew);
      json.put("rowsPerPlayer", rowsPerPlayer);
      json.put("rowsPerCommit", rowsPerAction);
      json.put("rowBytes", rowBytes);
      json.put("deletes", deletes);
      json.put("threads", threads);
      return json;
    }

    int playersPerThread() {
      return players / threads;
    }
  }

  public Workload(Shape shape) {
    this.shape = shape;
    cumulative = new double[shape.playersPerThread()];
    double sum = 0;
    for (int rank = 0; rank < cumulative.length; rank++) {
      sum += Math.pow(rank + 1, -shape.skew());
      cumulative[rank] = sum;
    }
  }

  public Shape shape() {
    return shape;
  }

  /** The actions of one thread from the first on. */
  public Actions actions(int thread) {
    return new Actions(shape, cumulative, thread);
  }

  /** The actions of every thread. */
  public List<Actions> actions() {
    return java.util.stream.IntStream.range(0, shape.threads()).mapToObj(this::actions).toList();
  }
}
