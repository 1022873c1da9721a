package io.gameq.lab.report;

import io.gameq.lab.workload.BenchException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalDouble;
import org.HdrHistogram.Histogram;

/** All figures of a benchmark, by part and name, in the order in which they came. One thread. */
public final class Figures {
  /** Latencies are shown at these percentiles, and at their highest. */
  private static final Map<String, Double> PERCENTILES = new LinkedHashMap<>();

  static {
    PERCENTILES.put("p50", 50.0);
    PERCENTILES.put("p99", 99.0);
    PERCENTILES.put("p99.9", 99.9);
    PERCENTILES.put("max", 100.0);
  }

  private final Map<String, Map<String, Figure>> parts = new LinkedHashMap<>();
  private final Map<Name, Name> limits = new LinkedHashMap<>();

  /** Where a figure stands. */
  public record Name(String part, String what) {}

  /** Adds the value of one more round. */
  public void add(String part, String what, String unit, double value) {
    parts
        .computeIfAbsent(part, of -> new LinkedHashMap<>())
        .computeIfAbsent(what, of -> new Figure(unit))
        .add(value);
  }

  /** One value of a figure; travels as JSON from a child process. */
  public record Value(String what, String unit, double value) {}

  /** The values of a part that was measured once. */
  public List<Value> values(String part) {
    return part(part).entrySet().stream()
        .map(of -> new Value(of.getKey(), of.getValue().unit(), of.getValue().median()))
        .toList();
  }

  /** Adds the values of one more round. */
  public void add(String part, List<Value> values) {
    values.forEach(of -> add(part, of.what(), of.unit(), of.value()));
  }

  /**
   * Adds the percentiles of a histogram of nanoseconds, as microseconds: those that one value in it
   * is beyond at least.
   */
  public void addMicros(String part, String what, Histogram nanos) {
    addPercentiles(part, what, "us", nanos, 1e3);
  }

  /** The same as milliseconds. */
  public void addMillis(String part, String what, Histogram nanos) {
    addPercentiles(part, what, "ms", nanos, 1e6);
  }

  private void addPercentiles(
      String part, String what, String unit, Histogram nanos, double nanosPerUnit) {
    PERCENTILES.forEach(
        (name, percent) -> {
          boolean meansLittle = nanos.getTotalCount() * (100 - percent) < 100 && percent < 100;
          if (nanos.getTotalCount() > 0 && !meansLittle) {
            add(part, what + " " + name, unit, nanos.getValueAtPercentile(percent) / nanosPerUnit);
          }
        });
  }

  /** Says that one figure is to be shown as a share of another. */
  public void limit(Name figure, Name limit) {
    limits.put(figure, limit);
  }

  /** The share of its limit; empty when either was not measured. */
  public OptionalDouble shareOfLimit(Name figure) {
    Name limit = limits.get(figure);
    return limit == null || !has(figure) || !has(limit)
        ? OptionalDouble.empty()
        : OptionalDouble.of(
            get(figure.part(), figure.what()).median() / get(limit.part(), limit.what()).median());
  }

  private boolean has(Name name) {
    return parts.getOrDefault(name.part(), Map.of()).containsKey(name.what());
  }

  /** A figure. Throws {@link BenchException} when it was not measured. */
  public Figure get(String part, String what) {
    Figure figure = parts.getOrDefault(part, Map.of()).get(what);
    if (figure == null) {
      throw new BenchException("there is no figure '" + what + "' of " + part);
    }
    return figure;
  }

  /** The figures of one part, by name. */
  public Map<String, Figure> part(String part) {
    return parts.getOrDefault(part, Map.of());
  }

  /** By part, then by name. */
  public Map<String, Map<String, Figure>> all() {
    return parts;
  }

  Map<String, Object> json() {
    Map<String, Object> json = new LinkedHashMap<>();
    parts.forEach(
        (part, figures) -> {
          Map<String, Object> of = new LinkedHashMap<>();
          figures.forEach(
              (what, figure) -> {
                Map<String, Object> values = figure.json();
                Name name = new Name(part, what);
                shareOfLimit(name).ifPresent(share -> values.put("shareOfLimit", share));
                of.put(what, values);
              });
          json.put(part, of);
        });
    return json;
  }
}
