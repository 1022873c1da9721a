package io.gameq.recovery.plan;

import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The newest version of each row, and the epoch under which it was written last. Not thread-safe.
 *
 * <p>A row may stand in several WALs in one version: committed under one session and adopted by the
 * next. The newest of these sessions counts.
 */
public final class RowIndex {
  /** What one row takes here, measured with a million and with five million rows. */
  static final int BYTES_PER_ROW = 100;

  private final Map<RowHash.Key, Newest> rows = new HashMap<>();
  private final long most;
  private boolean full;

  /** What becomes of a row; what else it may be, its status says. */
  enum State {
    UNSEEN,
    SEEN,
    TO_REPLAY
  }

  /** The newest version of a row. */
  static final class Newest {
    State state = State.UNSEEN;
    private long version;
    private int epoch;

    private boolean is(long itsVersion, int itsEpoch) {
      return version == itsVersion && epoch == itsEpoch;
    }

    private void note(long itsVersion, int itsEpoch) {
      int newer = Long.compareUnsigned(itsVersion, version);
      if (newer > 0 || (newer == 0 && Integer.compareUnsigned(itsEpoch, epoch) > 0)) {
        version = itsVersion;
        epoch = itsEpoch;
      }
    }
  }

  /**
   * An empty index.
   *
   * @param most rows; more are not taken, and {@link #isFull} says so
   */
  RowIndex(long most) {
    this.most = most;
  }

  /** Notes a row, unless the index knows a newer version or session of it. */
  void note(RowHash row, long version, long epoch) {
    RowHash.Key key = row.key();
    Newest known = rows.get(key);
    if (known == null) {
      if (rows.size() >= most) {
        full = true;
        return;
      }
      known = new Newest();
      rows.put(key, known);
    }
    known.note(version, shortEpoch(epoch));
  }

  /** Epochs rise by one for every open of an owner: four billion are enough to tell them apart. */
  private static int shortEpoch(long epoch) {
    return epoch >>> 32 == 0 ? (int) epoch : -1;
  }

  /** A row, if this is its newest version, written under its newest session; else null. */
  @Nullable Newest find(RowHash row, long version, long epoch) {
    Newest known = rows.get(row.key());
    return known != null && known.is(version, shortEpoch(epoch)) ? known : null;
  }

  /** Distinct rows. */
  long size() {
    return rows.size();
  }

  /** Whether rows were left out for want of room. */
  boolean isFull() {
    return full;
  }
}
