package io.gameq.lab.report;

import io.gameq.lab.workload.Model;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** What a benchmark came to; filled by its parts. One thread. */
public final class BenchResult {
  private final Figures figures = new Figures();
  private final Map<String, Map<String, Series>> series = new LinkedHashMap<>();
  private final Map<String, Model.Result> checks = new LinkedHashMap<>();
  private final Map<String, List<GrowthPoint>> growth = new LinkedHashMap<>();

  /**
   * One point of a growth curve.
   *
   * @param x how many, or how large
   * @param figures measured there, by name
   */
  public record GrowthPoint(long x, Map<String, Figure> figures) {}

  public Figures figures() {
    return figures;
  }

  /** A series of a part, made at first use. */
  public Series series(String part, String what, String unit) {
    return series
        .computeIfAbsent(part, of -> new LinkedHashMap<>())
        .computeIfAbsent(what, of -> new Series(unit));
  }

  /** All series of a part, by name. */
  public Map<String, Series> series(String part) {
    return series.getOrDefault(part, Map.of());
  }

  /** MySQL compared with the model, after something. */
  public void check(String after, Model.Result result) {
    checks.put(after, result);
  }

  /** Takes over the comparisons of a run whose figures do not count. */
  public void checksOf(BenchResult other) {
    checks.putAll(other.checks);
  }

  public void growth(String kind, GrowthPoint point) {
    growth.computeIfAbsent(kind, of -> new ArrayList<>()).add(point);
  }

  Map<String, Model.Result> checks() {
    return checks;
  }

  Map<String, List<GrowthPoint>> growth() {
    return growth;
  }

  /** Whether every comparison found MySQL as it must be. */
  public boolean isFlawless() {
    return checks.values().stream().allMatch(Model.Result::isFlawless);
  }

  /** Whether those found it so that are of names which begin like this. */
  public boolean isFlawless(String prefix) {
    return checks.entrySet().stream()
        .filter(of -> of.getKey().startsWith(prefix))
        .allMatch(of -> of.getValue().isFlawless());
  }

  Map<String, Object> json() {
    Map<String, Object> json = new LinkedHashMap<>();
    json.put("flawless", isFlawless());
    Map<String, Object> compared = new LinkedHashMap<>();
    checks.forEach((after, check) -> compared.put(after, json(check)));
    json.put("checks", compared);
    json.put("figures", figures.json());
    Map<String, Object> sampled = new LinkedHashMap<>();
    series.forEach(
        (part, of) -> {
          Map<String, Object> ofPart = new LinkedHashMap<>();
          of.forEach((what, values) -> ofPart.put(what, values.json()));
          sampled.put(part, ofPart);
        });
    json.put("series", sampled);
    Map<String, Object> curves = new LinkedHashMap<>();
    growth.forEach(
        (kind, points) ->
            curves.put(kind, Map.of("points", points.stream().map(BenchResult::json).toList())));
    json.put("growth", curves);
    return json;
  }

  private static Map<String, Object> json(Model.Result check) {
    Map<String, Object> json = new LinkedHashMap<>();
    json.put("rows", check.rows());
    json.put("lostChanges", check.lostChanges());
    json.put("lostRows", check.lostRows());
    json.put("tornActions", check.tornActions());
    json.put("damagedRows", check.damagedRows());
    return json;
  }

  private static Map<String, Object> json(GrowthPoint point) {
    Map<String, Object> figures = new LinkedHashMap<>();
    point
        .figures()
        .forEach(
            (what, figure) ->
                figures.put(what, Map.of("unit", figure.unit(), "value", figure.median())));
    Map<String, Object> json = new LinkedHashMap<>();
    json.put("x", point.x());
    json.put("figures", figures);
    return json;
  }
}
