package io.gameq.recovery.plan;

import java.util.Arrays;

/**
 * The newest version of each row, and the epoch under which it was written last, in 25 bytes a
 * place. Not thread-safe.
 *
 * <p>A row may stand in several WALs in one version: committed under one session and adopted by the
 * next. The newest of these sessions counts.
 */
public final class RowIndex {
  /** Found nothing. */
  static final long NONE = -1;

  /** States of a row; what else it may be, its status says. */
  static final byte UNSEEN = 0;

  static final byte SEEN = 1;

  /** To be replayed. */
  static final byte REPLAY = 2;

  /** Small parts grow one by one: no copy of everything at once. */
  private static final int PARTS = 64;

  private static final int FIRST_PLACES = 256;

  private final Part[] parts = new Part[PARTS];
  private final long most;
  private long size;
  private boolean full;

  /**
   * An empty index.
   *
   * @param most rows; more are not taken, and {@link #isFull} says so
   */
  RowIndex(long most) {
    this.most = most;
    Arrays.setAll(parts, i -> new Part());
  }

  private static final class Part {
    private long[] high = new long[FIRST_PLACES];
    private int[] low = new int[FIRST_PLACES];
    private long[] version = new long[FIRST_PLACES];
    private int[] epoch = new int[FIRST_PLACES];
    private byte[] state = new byte[FIRST_PLACES];
    private int size;

    private static final byte EMPTY = 0;

    /** The place of a row, or the empty place where it belongs. */
    int place(long h, int l) {
      int mask = high.length - 1;
      int at = (int) (h >>> 6) & mask;
      while (state[at] != EMPTY && (high[at] != h || low[at] != l)) {
        at = (at + 1) & mask;
      }
      return at;
    }

    void grow() {
      Part old = new Part();
      old.high = high;
      old.low = low;
      old.version = version;
      old.epoch = epoch;
      old.state = state;
      int places = high.length * 2;
      high = new long[places];
      low = new int[places];
      version = new long[places];
      epoch = new int[places];
      state = new byte[places];
      for (int i = 0; i < old.high.length; i++) {
        if (old.state[i] != EMPTY) {
          int at = place(old.high[i], old.low[i]);
          high[at] = old.high[i];
          low[at] = old.low[i];
          version[at] = old.version[i];
          epoch[at] = old.epoch[i];
          state[at] = old.state[i];
        }
      }
    }
  }

  /** Notes a row, unless the index knows a newer version or session of it. */
  void note(RowHash row, long version, long epoch) {
    Part part = parts[part(row)];
    int at = part.place(row.high(), row.low());
    int shortEpoch = shortEpoch(epoch);
    if (part.state[at] == Part.EMPTY) {
      if (size == most) {
        full = true;
        return;
      }
      size++;
      part.high[at] = row.high();
      part.low[at] = row.low();
      part.version[at] = version;
      part.epoch[at] = shortEpoch;
      part.state[at] = UNSEEN + 1;
      if (++part.size > part.high.length * 7L / 10) {
        part.grow();
      }
      return;
    }
    int newer = Long.compareUnsigned(version, part.version[at]);
    if (newer > 0 || (newer == 0 && Integer.compareUnsigned(shortEpoch, part.epoch[at]) > 0)) {
      part.version[at] = version;
      part.epoch[at] = shortEpoch;
    }
  }

  /** Epochs rise by one for every open of an owner: four billion are enough to tell them apart. */
  private static int shortEpoch(long epoch) {
    return epoch >>> 32 == 0 ? (int) epoch : -1;
  }

  private static int part(RowHash row) {
    return (int) row.high() & (PARTS - 1);
  }

  /** The handle of a row, if this is its newest version, written under its newest session. */
  long find(RowHash row, long version, long epoch) {
    int of = part(row);
    Part part = parts[of];
    int at = part.place(row.high(), row.low());
    boolean found =
        part.state[at] != Part.EMPTY
            && part.version[at] == version
            && part.epoch[at] == shortEpoch(epoch);
    return found ? (long) of << 32 | at : NONE;
  }

  byte state(long handle) {
    return (byte) (parts[(int) (handle >>> 32)].state[(int) handle] - 1);
  }

  void setState(long handle, byte state) {
    parts[(int) (handle >>> 32)].state[(int) handle] = (byte) (state + 1);
  }

  /** Distinct rows. */
  long size() {
    return size;
  }

  /** Whether rows were left out for want of room. */
  boolean isFull() {
    return full;
  }
}
