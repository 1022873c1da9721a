package io.gameq.lab.workload;

import java.util.Arrays;
import java.util.BitSet;

/** Every row of the first players, written pass by pass: what a backlog holds. Immutable. */
public final class Fill {
  private final Workload.Shape shape;
  private final long rows;

  /**
   * The first rows.
   *
   * @param rows at most those that all players have
   */
  public Fill(Workload.Shape shape, long rows) {
    if (rows > (long) shape.players() * shape.rowsPerPlayer()) {
      throw new IllegalArgumentException("more rows than the players have");
    }
    this.shape = shape;
    this.rows = rows;
  }

  public long rows() {
    return rows;
  }

  /** Players that have rows of it, from 0 on. */
  public int players() {
    return (int) ((rows + shape.rowsPerPlayer() - 1) / shape.rowsPerPlayer());
  }

  /** How many rows of a player belong to it, from slot 0 on. */
  public int rowsOf(int player) {
    return (int) Math.min(shape.rowsPerPlayer(), rows - (long) player * shape.rowsPerPlayer());
  }

  /** A row as a pass writes it: the pass is its number. */
  public BenchRow row(int player, int slot, long pass) {
    return new BenchRow(player, slot, pass, Actions.payload(shape, player, slot, pass));
  }

  /** Compares MySQL's rows with what must be there after a pass. */
  public Check check(long pass) {
    return new Check(pass);
  }

  /** Takes MySQL's rows. One thread. */
  public final class Check {
    private final long pass;
    private final BitSet found = new BitSet();
    private long seen;
    private long damaged;

    private Check(long pass) {
      this.pass = pass;
    }

    /** A row that MySQL holds. */
    public void row(BenchRow row) {
      seen++;
      long index = row.playerId() * shape.rowsPerPlayer() + row.slot();
      byte[] payload = Actions.payload(shape, row.playerId(), row.slot(), row.seq());
      if (index >= rows || row.seq() > pass || !Arrays.equals(payload, row.payload())) {
        damaged++;
      } else if (row.seq() == pass) {
        found.set((int) index);
      }
    }

    /** After the last row: whatever is not of the last pass is lost. */
    public Model.Result result() {
      long lost = rows - found.cardinality();
      return new Model.Result(seen, lost, lost, 0, damaged);
    }
  }
}
