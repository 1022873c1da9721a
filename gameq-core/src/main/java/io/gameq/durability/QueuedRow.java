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
 * @param trades how many there are before it
 */
public record QueuedRow(
    long version,
    long sequence,
    int bytes,
    boolean isAdopted,
    @Nullable QueuedRow before,
    int trades) {
  /** A row that is traded over and over while MySQL is away must not take more and more room. */
  private static final int MOST_TRADES = 16;

  public QueuedRow(long version, long sequence, int bytes, boolean isAdopted) {
    this(version, sequence, bytes, isAdopted, null, 0);
  }

  /** The same after a trade that replaced another version. */
  QueuedRow afterTradeOf(QueuedRow old) {
    boolean isFull = old.trades >= MOST_TRADES;
    return new QueuedRow(
        version,
        sequence,
        bytes,
        isAdopted,
        isFull ? new QueuedRow(old.version, old.sequence, old.bytes, old.isAdopted) : old,
        isFull ? 1 : old.trades + 1);
  }

  QueuedRow newer(QueuedRow other) {
    return other.version > version ? other : this;
  }
}
