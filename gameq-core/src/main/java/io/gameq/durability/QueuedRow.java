package io.gameq.durability;

import org.jspecify.annotations.Nullable;

/**
 * A version of a row that Redis was given.
 *
 * @param sequence of its WAL record
 * @param bytes of the row, key and image
 * @param isAdopted whether no journal mark tells of it
 * @param before of a row that a trade changed what it was, in Redis as well by then: it counts
 *     again when the trade is not replayed
 * @param isTraded whether its commit was one of several sessions: a trade, or rows that were sent
 *     together with it
 */
public record QueuedRow(
    long version,
    long sequence,
    int bytes,
    boolean isAdopted,
    @Nullable QueuedRow before,
    boolean isTraded) {
  /** A row that is traded over and over while MySQL is away must not take more and more room. */
  private static final int MOST_TRADES = 16;

  public QueuedRow(long version, long sequence, int bytes, boolean isAdopted) {
    this(version, sequence, bytes, isAdopted, false);
  }

  QueuedRow(long version, long sequence, int bytes, boolean isAdopted, boolean isTraded) {
    this(version, sequence, bytes, isAdopted, null, isTraded);
  }

  /**
   * The same after another version, which is kept where this is a trade, or that was one: whether a
   * trade's other half is replayed depends on this row.
   */
  QueuedRow after(QueuedRow old) {
    QueuedRow kept = isTraded || old.isTraded ? old : old.before;
    if (kept == null) {
      return this;
    }
    return of(kept.countBefore() < MOST_TRADES ? kept : kept.of(null));
  }

  private QueuedRow of(@Nullable QueuedRow itsBefore) {
    return new QueuedRow(version, sequence, bytes, isAdopted, itsBefore, isTraded);
  }

  private int countBefore() {
    int count = 0;
    for (QueuedRow row = before; row != null; row = row.before) {
      count++;
    }
    return count;
  }

  QueuedRow newer(QueuedRow other) {
    return other.version > version ? other : this;
  }
}
