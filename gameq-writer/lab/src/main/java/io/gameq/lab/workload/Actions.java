package io.gameq.lab.workload;

import java.util.Arrays;
import java.util.SplittableRandom;

/**
 * The actions of one game thread, one after the other: {@link #next}, then ask what it is. One
 * thread.
 */
public final class Actions {
  private final Workload.Shape shape;
  private final double[] cumulative;
  private final int thread;
  private final SplittableRandom random;
  private final int[] slots;
  private final boolean[] deletes;
  private long seq;
  private long player;

  Actions(Workload.Shape shape, double[] cumulative, int thread) {
    this.shape = shape;
    this.cumulative = cumulative;
    this.thread = thread;
    this.random = new SplittableRandom(shape.seed() * 1_000_003 + thread);
    this.slots = new int[shape.rowsPerAction()];
    this.deletes = new boolean[shape.rowsPerAction()];
  }

  /** Goes on to the next action. */
  public void next() {
    seq++;
    double at = random.nextDouble() * cumulative[cumulative.length - 1];
    int found = Arrays.binarySearch(cumulative, at);
    int rank = Math.min(found < 0 ? -found - 1 : found + 1, cumulative.length - 1);
    player = (long) rank * shape.threads() + thread;
    for (int i = 0; i < slots.length; i++) {
      slots[i] = freshSlot(i);
      deletes[i] = shape.deletes() > 0 && random.nextDouble() < shape.deletes();
    }
  }

  /** Each row once; a few tries are enough, then the neighbour. */
  private int freshSlot(int count) {
    int slot = random.nextInt(shape.rowsPerPlayer());
    for (int i = 0; i < count; i++) {
      if (slots[i] == slot) {
        slot = (slot + 1) % shape.rowsPerPlayer();
        i = -1;
      }
    }
    return slot;
  }

  /** The number of the action, from 1. */
  public long seq() {
    return seq;
  }

  public long player() {
    return player;
  }

  /** How many rows each action changes. */
  public int rows() {
    return slots.length;
  }

  public int slot(int i) {
    return slots[i];
  }

  public boolean isDelete(int i) {
    return deletes[i];
  }

  /** The row that change {@code i} puts. */
  public BenchRow row(int i) {
    return new BenchRow(player, slots[i], seq, payload(shape, player, slots[i], seq));
  }

  /** The payload of a row, which nothing compresses. */
  static byte[] payload(Workload.Shape shape, long player, int slot, long seq) {
    byte[] payload = new byte[shape.rowBytes() - Workload.FIXED_BYTES];
    long state = (player << 20) ^ ((long) slot << 44) ^ seq;
    for (int i = 0; i < payload.length; ) {
      state += 0x9e3779b97f4a7c15L;
      long bits = (state ^ (state >>> 30)) * 0xbf58476d1ce4e5b9L;
      bits ^= bits >>> 27;
      for (int b = 0; b < 8 && i < payload.length; b++, i++) {
        payload[i] = (byte) (bits >>> (8 * b));
      }
    }
    return payload;
  }

  /** Where a row stands in an array of all rows. */
  int index(int i) {
    return (int) (player * shape.rowsPerPlayer() + slots[i]);
  }
}
