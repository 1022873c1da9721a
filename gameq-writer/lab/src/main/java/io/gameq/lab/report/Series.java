package io.gameq.lab.report;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.OptionalDouble;

/** Something sampled over time. One thread writes; read it when it is done. */
public final class Series {
  private final String unit;
  private final List<Double> seconds = new ArrayList<>();
  private final List<Double> values = new ArrayList<>();

  public Series(String unit) {
    this.unit = unit;
  }

  /** A sample at a time since the beginning. */
  public void add(double second, double value) {
    seconds.add(second);
    values.add(value);
  }

  public String unit() {
    return unit;
  }

  /** When each sample was taken, since the beginning. */
  public List<Double> seconds() {
    return seconds;
  }

  public List<Double> values() {
    return values;
  }

  /**
   * How fast it grows, per second: from the mean of the first third to that of the last. Empty with
   * fewer than three samples.
   */
  public OptionalDouble growthPerSecond() {
    int third = values.size() / 3;
    if (third == 0) {
      return OptionalDouble.empty();
    }
    int last = values.size() - third;
    double rise = mean(values.subList(last, last + third)) - mean(values.subList(0, third));
    double time = mean(seconds.subList(last, last + third)) - mean(seconds.subList(0, third));
    return OptionalDouble.of(rise / time);
  }

  /** The mean of all; 0 when there is none. */
  public double mean() {
    return mean(values);
  }

  private static double mean(List<Double> of) {
    return of.stream().mapToDouble(Double::doubleValue).average().orElse(0);
  }

  Map<String, Object> json() {
    return Map.of("unit", unit, "seconds", seconds, "values", values);
  }
}
