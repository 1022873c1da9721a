package io.gameq.writer.flush;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.gameq.writer.flush.FlushPace.FlushLimits;
import org.junit.jupiter.api.Test;

/** The control law, against a MySQL that takes so long by its rows. */
class FlushLimitsTest {
  private static final int ROWS = 2_000;
  private static final int WORKERS = 4;

  private final FlushLimits limits = new FlushLimits(ROWS, WORKERS);
  private double fixed = 0.010;
  private double ofOneRow = 0.000_05;
  private double now;
  private double longest;

  /** Full flushes, of all workers in turn. */
  private void flush(int times) {
    longest = 0;
    for (int i = 0; i < times; i++) {
      flush(limits.rows(), 1);
    }
  }

  private void flush(int rows, double times) {
    double took = times * (fixed + rows * ofOneRow);
    longest = Math.max(longest, took);
    long began = (long) (now * 1e9);
    now += took / limits.flushes();
    limits.flushed(began, began + (long) (took * 1e9), rows, rows);
  }

  @Test
  void atFullSpeedNothingIsLimited() {
    flush(1_000);
    assertEquals(ROWS, limits.rows());
    assertEquals(WORKERS, limits.flushes());
  }

  @Test
  void whenMySqlIsTenTimesSlowerFlushesShrinkToTheTargetAndGrowAgainWithIt() {
    flush(50);
    fixed *= 10;
    ofOneRow *= 10;
    flush(1);
    assertTrue(limits.rows() <= ROWS / 2, "the first slow flush is enough: " + limits.rows());
    flush(10);
    flush(200);
    assertTrue(longest < 1.3 * FlushLimits.TARGET_SECONDS, "settled at " + longest);
    assertTrue(
        limits.seconds() > 0.5 * FlushLimits.TARGET_SECONDS, "no smaller: " + limits.seconds());
    assertEquals(WORKERS, limits.flushes(), "small enough flushes are not made fewer");
    fixed /= 10;
    ofOneRow /= 10;
    double back = now;
    while (limits.rows() < ROWS) {
      flush(1);
    }
    assertTrue(now - back < 3, "after " + (now - back) + " s");
  }

  @Test
  void whereMySqlIsFarAwaySmallerFlushesWouldGainNothing() {
    fixed = 0.300;
    ofOneRow = 0.000_1;
    flush(300);
    double rowsPerSecond = limits.rows() / (fixed + limits.rows() * ofOneRow);
    assertTrue(rowsPerSecond > 0.8 * ROWS / (fixed + ROWS * ofOneRow), "rows " + limits.rows());
  }

  @Test
  void oneFlushThatWaitedForALockChangesNothing() {
    flush(50);
    flush(5, 80);
    assertEquals(ROWS, limits.rows());
  }

  @Test
  void flushesThatBeganBeforeItShrankCountOnce() {
    flush(50);
    long began = (long) (now * 1e9);
    for (int i = 1; i <= WORKERS; i++) {
      limits.flushed(began, began + 1_500_000_000L + i, ROWS, ROWS);
    }
    assertEquals(ROWS / 2, limits.rows());
  }

  @Test
  void aMySqlThatIsHardlyThereGetsOneSmallFlushAtATimeAndAllAgainLater() {
    fixed = 2;
    ofOneRow = 0.01;
    flush(100);
    assertEquals(ROWS / 40, limits.rows(), "the floor");
    assertEquals(1, limits.flushes());
    fixed = 0.010;
    ofOneRow = 0.000_05;
    flush(1_000);
    assertEquals(ROWS, limits.rows());
    assertEquals(WORKERS, limits.flushes());
  }

  @Test
  void smallFlushesThatAreSlowWouldBeNoQuickerWereTheLimitLower() {
    for (int i = 0; i < 50; i++) {
      flush(50, 100);
    }
    assertEquals(ROWS, limits.rows());
    limits.flushed(0, 3_000_000_000L, 500, ROWS); // full by its owners
    assertTrue(limits.rows() < ROWS);
  }

  @Test
  void smallFlushesThatAreQuickSayLittleOfLargeOnes() {
    flush(50);
    fixed *= 10;
    ofOneRow *= 10;
    flush(50);
    int rows = limits.rows();
    for (int i = 0; i < 20; i++) {
      flush(5, 1);
    }
    assertTrue(limits.rows() < rows + 10, rows + " rows became " + limits.rows());
  }
}
