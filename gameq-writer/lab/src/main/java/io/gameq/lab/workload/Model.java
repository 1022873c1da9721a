package io.gameq.lab.workload;

import java.util.Arrays;
import java.util.function.Consumer;

/**
 * The rows that MySQL must hold once so many actions of each thread have reached it, and how it
 * differs. One thread.
 */
public final class Model {
  private final Workload workload;
  private final long[] acknowledged;
  private final long[] last; // by row: number of the last action, negative when it deleted
  private final long[] found;

  /**
   * Repeats the actions.
   *
   * @param acknowledged how many actions of each thread
   */
  public Model(Workload workload, long[] acknowledged) {
    this.workload = workload;
    this.acknowledged = acknowledged.clone();
    int rows = Math.multiplyExact(workload.shape().players(), workload.shape().rowsPerPlayer());
    last = new long[rows];
    found = new long[rows];
    forEachAction(
        0,
        action -> {
          for (int i = 0; i < action.rows(); i++) {
            last[action.index(i)] = action.isDelete(i) ? -action.seq() : action.seq();
          }
        });
  }

  /** After so many actions of each thread. */
  public static Model afterActions(Workload workload, long actionsPerThread) {
    long[] each = new long[workload.shape().threads()];
    Arrays.fill(each, actionsPerThread);
    return new Model(workload, each);
  }

  private void forEachAction(long more, Consumer<Actions> consumer) {
    for (int thread = 0; thread < acknowledged.length; thread++) {
      Actions actions = workload.actions(thread);
      for (long n = acknowledged[thread] + more; n > 0; n--) {
        actions.next();
        consumer.accept(actions);
      }
    }
  }

  /** Rows that were changed. */
  public long distinctRows() {
    return Arrays.stream(last).filter(seq -> seq != 0).count();
  }

  /** Hands over every row that exists in the end, by player and slot. */
  public void forEachRow(Consumer<BenchRow> consumer) {
    Workload.Shape shape = workload.shape();
    for (int row = 0; row < last.length; row++) {
      if (last[row] > 0) {
        long player = row / shape.rowsPerPlayer();
        int slot = row % shape.rowsPerPlayer();
        consumer.accept(
            new BenchRow(player, slot, last[row], Actions.payload(shape, player, slot, last[row])));
      }
    }
  }

  /** Compares MySQL's rows with what must be there: {@link Check#row} for each, then the result. */
  public Check check() {
    Arrays.fill(found, 0);
    return new Check();
  }

  /**
   * What a comparison came to.
   *
   * @param rows found in MySQL
   * @param lostChanges acknowledged changes that neither MySQL holds nor a later change replaced
   * @param lostRows rows that are older than the last acknowledged change
   * @param tornActions actions of which MySQL shows one row and hides another
   * @param damagedRows rows whose payload is not what their action wrote
   */
  public record Result(
      long rows, long lostChanges, long lostRows, long tornActions, long damagedRows) {
    public boolean isFlawless() {
      return lostChanges == 0 && lostRows == 0 && tornActions == 0 && damagedRows == 0;
    }
  }

  /** Takes MySQL's rows. */
  public final class Check {
    /** A killed process had sent no more than this beyond what was acknowledged. */
    private static final long MOST_UNACKNOWLEDGED = 20_000;

    private long rows;
    private long lostChanges;
    private long lostRows;
    private long torn;
    private long damaged;

    private Check() {}

    /** A row that MySQL holds. */
    public void row(BenchRow row) {
      rows++;
      Workload.Shape shape = workload.shape();
      if (row.playerId() >= shape.players() || row.slot() >= shape.rowsPerPlayer()) {
        damaged++;
        return;
      }
      byte[] payload = Actions.payload(shape, row.playerId(), row.slot(), row.seq());
      damaged += Arrays.equals(payload, row.payload()) ? 0 : 1;
      found[(int) (row.playerId() * shape.rowsPerPlayer() + row.slot())] = row.seq();
    }

    /** After the last row. */
    public Result result() {
      for (int row = 0; row < last.length; row++) {
        boolean isDeleted = last[row] < 0;
        if (isDeleted && found[row] == 0) {
          found[row] = -last[row]; // as it should be
        } else if (found[row] < Math.abs(last[row])) {
          lostRows++;
        }
      }
      forEachAction(
          0,
          action -> {
            for (int i = 0; i < action.rows(); i++) {
              lostChanges += found[action.index(i)] < action.seq() ? 1 : 0;
            }
          });
      if (workload.shape().deletes() == 0) { // an absent row does not tell which change is shown
        forEachAction(MOST_UNACKNOWLEDGED, this::lookForTear);
      }
      return new Result(rows, lostChanges, lostRows, torn, damaged);
    }

    private void lookForTear(Actions action) {
      int shown = 0;
      for (int i = 0; i < action.rows(); i++) {
        shown += found[action.index(i)] >= action.seq() ? 1 : 0;
      }
      torn += shown > 0 && shown < action.rows() ? 1 : 0;
    }
  }
}
