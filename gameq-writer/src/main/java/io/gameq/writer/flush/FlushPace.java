package io.gameq.writer.flush;

import io.gameq.redis.script.ClaimScript;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import java.util.function.LongSupplier;
import java.util.function.ToDoubleFunction;

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
  public FlushPace(ClaimScript.Bounds most, int workers, int rowsPerSecond) {
    this(most, workers, rowsPerSecond, System::nanoTime);
  }

  FlushPace(ClaimScript.Bounds most, int workers, int rowsPerSecond, LongSupplier nanoTime) {
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
}
