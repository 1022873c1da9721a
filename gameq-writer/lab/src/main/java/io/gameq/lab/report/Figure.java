package io.gameq.lab.report;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** One thing that was measured: a value for each round. One thread. */
public final class Figure {
  private final String unit;
  private final List<Double> values = new ArrayList<>();

  Figure(String unit) {
    this.unit = unit;
  }

  void add(double value) {
    values.add(value);
  }

  public String unit() {
    return unit;
  }

  /** In the order of the rounds. */
  public List<Double> values() {
    return List.copyOf(values);
  }

  /** The middle one; of an even number, the mean of the middle two. */
  public double median() {
    double[] sorted = sorted();
    int middle = sorted.length / 2;
    return sorted.length % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
  }

  public double min() {
    return sorted()[0];
  }

  public double max() {
    return sorted()[values.size() - 1];
  }

  private double[] sorted() {
    return values.stream().mapToDouble(Double::doubleValue).sorted().toArray();
  }

  Map<String, Object> json() {
    return new TreeMap<>(
        Map.of("unit", unit, "median", median(), "min", min(), "max", max(), "values", values()));
  }
}
