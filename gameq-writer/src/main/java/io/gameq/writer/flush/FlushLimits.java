package io.gameq.writer.flush;

import java.util.Locale;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * How many rows a flush takes and how many flushes run at a time, by how long MySQL takes for them:
 * both grow by steps while it is quick and shrink by shares while it is slow (additive increase,
 * multiplicative decrease). Thread-safe.
 *
 * <p>The measure is a duration that a flush is to have, not what was usual before: an urgent row
 * waits for a flush or two, whatever is usual; and a statement that takes 2 s counts as held up by
 * an owner. A flush of {@link #TARGET_SECONDS} has statements far enough below that, so that a
 * MySQL that becomes ten times slower from one flush to the next holds up no owner before flushes
 * have shrunk. What they lose by being small is bounded as well: where much of a flush's duration
 * is there whatever its rows (a far server, a slow disk), it may take three times that, at most
 * {@link #MOST_SECONDS}.
 */
final class FlushLimits {
  /** A full flush has at least four statements: each takes a tenth of a second then. */
  static final double TARGET_SECONDS = 0.4;

  /** An urgent row is to be in MySQL within a second, as long as it can be. */
  static final double MOST_SECONDS = 1.0;

  /** A flush that is mostly not its rows gains nothing by having fewer. */
  private static final double TIMES_FIXED = 3;

  /** Of the configured rows: below it, the parts of a flush that are not rows are most of it. */
  private static final int FLOOR_SHARE = 40;

  /** From the least to the most rows in so many full flushes of each worker: about a second. */
  private static final int STEPS = 20;

  /** Below this share of the target there is room for more. */
  private static final double GROWS_BELOW = 0.8;

  /** At least half of the rows are kept at a time, and a tenth goes. */
  private static final double MOST_KEPT = 0.9;

  private static final double LEAST_KEPT = 0.5;

  /** A single flush that waited for a lock is no reason yet; one that is ten times slower is. */
  private static final double WEIGHT_OF_ONE = 0.3;

  /** Only when rows are down to this share, fewer flushes at a time are tried. */
  private static final int FEW_ROWS_SHARE = 8;

  private static final long MORE_FLUSHES_NANOS = TimeUnit.SECONDS.toNanos(1);

  private static final Logger LOG = LoggerFactory.getLogger(FlushLimits.class);

  private final int mostRows;
  private final int mostFlushes;
  private final int floor;
  private final FlushCost cost = new FlushCost();
  private double rows;
  private int flushes;
  private double pressure;
  private double seconds = Double.NaN;
  private long shrankNanos;
  private long grewNanos;
  private boolean hasShrunk;
  private boolean isSlow;

  /** Full speed at first. */
  FlushLimits(int mostRows, int mostFlushes) {
    this.mostRows = mostRows;
    this.mostFlushes = mostFlushes;
    this.floor = Math.max(1, mostRows / FLOOR_SHARE);
    this.rows = mostRows;
    this.flushes = mostFlushes;
  }

  /** Most rows of the next flush. */
  synchronized int rows() {
    return (int) rows;
  }

  /** Most flushes at a time. */
  synchronized int flushes() {
    return flushes;
  }

  /** How long flushes took of late, s; NaN before the first. */
  synchronized double seconds() {
    return seconds;
  }

  /** The same as a share of what they are to take: above 1 they shrink. */
  synchronized double pressure() {
    return pressure;
  }

  /** How long a flush is to take, s. */
  private double target() {
    return Math.min(MOST_SECONDS, Math.max(TARGET_SECONDS, TIMES_FIXED * cost.fixedSeconds()));
  }

  /**
   * A flush of so many rows ended, committed or held up by a slow statement.
   *
   * @param size how full it was, as rows of a flush
   */
  synchronized void flushed(long beganNanos, long endedNanos, int ofRows, int size) {
    double took = (endedNanos - beganNanos) / 1e9;
    cost.add(ofRows, took);
    double ratio = took / target();
    pressure += WEIGHT_OF_ONE * (ratio - pressure);
    seconds = Double.isNaN(seconds) ? took : seconds + WEIGHT_OF_ONE * (took - seconds);
    if (hasShrunk && beganNanos - shrankNanos < 0) {
      return; // it says nothing of the limits that there are since
    }
    if (ratio > 1 && pressure > 1 && 2 * size >= rows) { // a smaller one would not have changed
      shrink(ratio, endedNanos);
    } else if (ratio < GROWS_BELOW) {
      grow(size, endedNanos);
    }
    tellRegime(took, ofRows);
  }

  /** Rows first, which shorten a flush at once; then flushes, which may slow each other down. */
  private void shrink(double ratio, long now) {
    if (rows <= (double) mostRows / FEW_ROWS_SHARE && flushes > 1) {
      flushes = Math.max(1, flushes / 2);
    } else {
      double kept = Math.max(LEAST_KEPT, Math.min(MOST_KEPT, 1 / ratio));
      rows = Math.max(floor, rows * kept);
    }
    pressure = GROWS_BELOW;
    hasShrunk = true;
    shrankNanos = now;
    grewNanos = now;
  }

  /** A flush that was not full tells as much less of what a larger one would take. */
  private void grow(int size, long now) {
    double step = (double) mostRows / STEPS / mostFlushes;
    rows = Math.min(mostRows, rows + step * Math.min(1, size / rows));
    if (flushes < mostFlushes && now - grewNanos >= MORE_FLUSHES_NANOS) {
      flushes = Math.min(mostFlushes, flushes + Math.max(1, mostFlushes / FEW_ROWS_SHARE));
      grewNanos = now;
    }
  }

  /** Once each, with room between them: limits move all the time. */
  private void tellRegime(double took, int ofRows) {
    if (!isSlow && rows < mostRows / 2.0) {
      isSlow = true;
      LOG.warn(
          "MySQL is slow: {} s for a flush of {} rows; flushes are smaller until it is quicker,"
              + " and more waits in Redis",
          String.format(Locale.ROOT, "%.2f", took),
          ofRows);
    } else if (isSlow && rows >= mostRows && flushes >= mostFlushes) {
      isSlow = false;
      LOG.info("MySQL is quick again: flushes of up to {} rows, {} at a time", mostRows, flushes);
    }
  }
}
