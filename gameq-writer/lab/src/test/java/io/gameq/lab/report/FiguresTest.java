package io.gameq.lab.report;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.HdrHistogram.Histogram;
import org.junit.jupiter.api.Test;

class FiguresTest {
  private final Figures figures = new Figures();

  @Test
  void aFigureIsTheMedianOfItsRounds() {
    for (double value : new double[] {30, 10, 20, 50}) {
      figures.add("drain", "rows", "1/s", value);
    }
    Figure rows = figures.get("drain", "rows");
    assertEquals(25, rows.median());
    assertEquals(10, rows.min());
    assertEquals(50, rows.max());
  }

  @Test
  void aShareIsOfTheLimitsMedianAndAbsentWithoutOne() {
    var rows = new Figures.Name("drain", "rows");
    figures.limit(rows, new Figures.Name("limits", "raw"));
    figures.add("drain", "rows", "1/s", 60);
    assertTrue(figures.shareOfLimit(rows).isEmpty());
    figures.add("limits", "raw", "1/s", 80);
    assertEquals(0.75, figures.shareOfLimit(rows).orElseThrow());
  }

  @Test
  void aPercentileThatTooFewValuesBearIsLeftOut() {
    Histogram nanos = new Histogram(3);
    for (int i = 1; i <= 100; i++) {
      nanos.recordValue(i * 1_000_000L);
    }
    figures.addMillis("claim", "call", nanos);
    assertEquals(50, figures.get("claim", "call p50").median(), 0.1);
    assertTrue(figures.part("claim").containsKey("call p99"));
    assertFalse(figures.part("claim").containsKey("call p99.9"));
    figures.addMicros("none", "call", new Histogram(3));
    assertTrue(figures.part("none").isEmpty());
  }

  @Test
  void growthIsTheSlopeFromTheFirstThirdToTheLast() {
    Series series = new Series("MB");
    assertTrue(series.growthPerSecond().isEmpty());
    for (int second = 0; second < 9; second++) {
      series.add(second, 100 + 2.0 * second);
    }
    assertEquals(2, series.growthPerSecond().orElseThrow(), 1e-9);
  }
}
