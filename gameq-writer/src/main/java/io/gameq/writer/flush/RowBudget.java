package io.gameq.writer.flush;

import java.util.concurrent.TimeUnit;

/**
 * How many rows a writer may still take, when it may take so many a second and no more (a token
 * bucket): what a turn may claim is set apart when it begins, what it did claim is taken off. Not
 * thread-safe; times are those of the caller's clock.
 */
final class RowBudget {
  /** What was not used within so long is not made up for. */
  private static final double BURST_SECONDS = 0.25;

  /** Most rows of one flush: a part of a second's, so that the pace is even. */
  private static final int FLUSHES_A_SECOND = 8;

  private final int rowsPerSecond;
  private double left;
  private long reserved;
  private long refilledNanos;

  /** A full budget; 0 rows a second: without a ceiling. */
  RowBudget(int rowsPerSecond, long nowNanos) {
    this.rowsPerSecond = rowsPerSecond;
    this.left = rowsPerSecond * BURST_SECONDS;
    this.refilledNanos = nowNanos;
  }

  boolean hasCeiling() {
    return rowsPerSecond > 0;
  }

  /** Most rows of one flush. */
  int mostRows() {
    return hasCeiling() ? Math.max(1, rowsPerSecond / FLUSHES_A_SECOND) : Integer.MAX_VALUE;
  }

  /** How long until the next turn may begin, ns; 0 when it may now. */
  long waitNanos(long nowNanos) {
    if (!hasCeiling()) {
      return 0;
    }
    refill(nowNanos);
    double available = left - reserved;
    return available > 0
        ? 0
        : 1 + (long) ((1 - available) / rowsPerSecond * TimeUnit.SECONDS.toNanos(1));
  }

  private void refill(long nowNanos) {
    double more = (nowNanos - refilledNanos) / 1e9 * rowsPerSecond;
    left = Math.min(rowsPerSecond * BURST_SECONDS, left + more);
    refilledNanos = nowNanos;
  }

  /** A turn begins that may claim so many. */
  void reserve(int rows) {
    reserved += rows;
  }

  /** It ended, and had claimed so many: an owner is never split, so it may be more. */
  void used(int reservedRows, int claimedRows) {
    reserved -= reservedRows;
    left -= claimedRows;
  }
}
