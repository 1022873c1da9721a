package io.gameq.writer.flush;

import io.gameq.redis.script.ClaimScript;
import io.gameq.terminal.Shown;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import java.util.function.ToDoubleFunction;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * How much a writer flushes at a time, and how soon the next turn may begin: as much as MySQL takes
 * in good time ({@link FlushLimits}), and no more than a ceiling allows ({@link RowBudget}).
 * Thread-safe.
 */
public final class FlushPace {
  private final int mostOwners;
  private final int mostRows;
  private final FlushLimits limits;
  private final RowBudget budget;
  private final LongSupplier nanoTime;

  /**
   * Full speed at first.
   *
   * @param most owners and rows of a flush, never passed but by the last owner
   * @param workers most flushes at a time
   * @param rowsPerSecond of the whole writer; 0 for no ceiling
   */
  public FlushPace(ClaimScript.Bounds most, int workers, int rowsPerSecond, LongSupplier nanoTime) {
    this.mostOwners = most.owners();
    this.mostRows = most.rows();
    this.limits = new FlushLimits(mostRows, workers);
    this.budget = new RowBudget(rowsPerSecond, nanoTime.getAsLong());
    this.nanoTime = nanoTime;
  }

  int mostOwners() {
    return mostOwners;
  }

  int mostRows() {
    return mostRows;
  }

  /** The next flush as a share of a full one, above 0. */
  double share() {
    return (double) Math.min(limits.rows(), budget.mostRows()) / mostRows;
  }

  /** Whether one more flush may begin while so many run. */
  boolean hasRoom(int running) {
    return running < limits.flushes();
  }

  /** How long until the next turn may begin, ns. */
  synchronized long waitNanos() {
    return budget.waitNanos(nanoTime.getAsLong());
  }

  /** A turn begins that may claim so many rows. */
  synchronized void begins(int rows) {
    budget.reserve(rows);
  }

  /** It ended. */
  synchronized void ended(int rows, int claimedRows) {
    budget.used(rows, claimedRows);
  }

  /** A flush ended that began at that System.nanoTime; it may be full by its owners. */
  void flushed(long beganNanos, int owners, int rows) {
    int size = (int) Math.max(rows, (long) owners * mostRows / mostOwners);
    limits.flushed(beganNanos, nanoTime.getAsLong(), rows, size);
  }

  /** Registers meters that show what holds now. */
  public void bindTo(MeterRegistry meters) {
    gauge(meters, "flush.limit", "Most rows of the next flush", of -> of.share() * of.mostRows);
    gauge(meters, "flushes.limit", "Most flushes at a time", of -> of.limits.flushes());
    gauge(
        meters,
        "flush.pressure",
        "How long flushes take of late, as a share of what they are to take",
        of -> of.limits.pressure());
    Gauge.builder("gameq.writer.flush.recent", limits, FlushLimits::seconds)
        .description("How long flushes take of late")
        .baseUnit("seconds")
        .register(meters);
  }

  private void gauge(
      MeterRegistry meters, String name, String description, ToDoubleFunction<FlushPace> value) {
    Gauge.builder("gameq.writer." + name, this, value).description(description).register(meters);
  }

  /**
   * How many rows a writer may still take, when it may take so many a second and no more (a token
   * bucket): what a turn may claim is set apart when it begins, what it did claim is taken off. Not
   * thread-safe; times are those of the caller's clock.
   */
  static final class RowBudget {
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

  /**
   * How many rows a flush takes and how many flushes run at a time, by how long MySQL takes for
   * them: both grow by steps while it is quick and shrink by shares while it is slow (additive
   * increase, multiplicative decrease). Thread-safe.
   *
   * <p>The measure is a duration that a flush is to have, not what was usual before: an urgent row
   * waits for a flush or two, whatever is usual; and a statement that takes 2 s counts as held up
   * by an owner. A flush of {@link #TARGET_SECONDS} has statements far enough below that, so that a
   * MySQL that becomes ten times slower from one flush to the next holds up no owner before flushes
   * have shrunk. What they lose by being small is bounded as well: where much of a flush's duration
   * is there whatever its rows (a far server, a slow disk), it may take three times that, at most
   * {@link #MOST_SECONDS}.
   */
  static final class FlushLimits {
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
            Shown.line("%.2f", took),
            ofRows);
      } else if (isSlow && rows >= mostRows && flushes >= mostFlushes) {
        isSlow = false;
        LOG.info("MySQL is quick again: flushes of up to {} rows, {} at a time", mostRows, flushes);
      }
    }
  }

  /**
   * What of a flush's duration does not depend on its rows, by the flushes of late: a line through
   * them, in which each counts a little less with every later one. Not thread-safe.
   */
  static final class FlushCost {
    /** Of the weight of a flush, what is left with the next one: the last thirty or so count. */
    private static final double DECAY = 0.97;

    /** A flush that took so many times longer or shorter than the line says begins a new one. */
    private static final double NEW_LINE_TIMES = 2;

    /**
     * While all flushes are of one size, every line through them fits: then a flush of no rows is
     * taken to cost nothing. As soon as sizes differ, this fiftieth of a flush does not matter.
     */
    private static final double WEIGHT_OF_NOTHING = 0.02;

    private double weight;
    private double rows;
    private double seconds;
    private double squares;
    private double products;

    void add(int ofRows, double ofSeconds) {
      double expected = fixedSeconds() + secondsOfOneRow() * ofRows;
      boolean isOff =
          ofSeconds > NEW_LINE_TIMES * expected || NEW_LINE_TIMES * ofSeconds < expected;
      double kept = isOff ? 0 : DECAY; // else what MySQL was like would bend what it is like now
      weight = weight * kept + 1;
      rows = rows * kept + ofRows;
      seconds = seconds * kept + ofSeconds;
      squares = squares * kept + (double) ofRows * ofRows;
      products = products * kept + ofRows * ofSeconds;
    }

    /** How long a flush of next to no rows takes, s; 0 when nothing is known. */
    double fixedSeconds() {
      return Math.max(0, meanSeconds() - secondsOfOneRow() * meanRows());
    }

    private double secondsOfOneRow() {
      double variance = squares / all() - meanRows() * meanRows();
      return variance <= 0
          ? 0
          : Math.max(0, (products / all() - meanRows() * meanSeconds()) / variance);
    }

    private double all() {
      return weight + WEIGHT_OF_NOTHING;
    }

    private double meanRows() {
      return rows / all();
    }

    private double meanSeconds() {
      return seconds / all();
    }
  }
}
