package io.gameq.lab.report;

import io.gameq.lab.report.BenchResult.GrowthPoint;
import io.gameq.lab.workload.Model;
import io.gameq.terminal.TextTable;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.TreeSet;

/** Prints a result as tables. One thread. */
public final class Report {
  /** A single worst case says little of the rest. */
  private static final String ONLY_IN_JSON = " max";

  private final PrintWriter out;

  public Report(PrintWriter out) {
    this.out = out;
  }

  public void print(BenchResult result) {
    printFigures(result.figures());
    result.growth().forEach(this::printCurve);
    result.checks().forEach(this::printCheck);
    out.flush();
  }

  private void printFigures(Figures figures) {
    if (figures.all().isEmpty()) {
      return;
    }
    List<List<String>> rows = new ArrayList<>();
    figures
        .all()
        .forEach(
            (part, of) ->
                of.forEach(
                    (what, figure) -> {
                      if (what.endsWith(ONLY_IN_JSON)) {
                        return;
                      }
                      var share = figures.shareOfLimit(new Figures.Name(part, what));
                      rows.add(
                          List.of(
                              part,
                              what,
                              number(figure.median()),
                              range(figure),
                              figure.unit(),
                              share.isPresent()
                                  ? String.format(Locale.ROOT, "%.0f %%", 100 * share.getAsDouble())
                                  : ""));
                    }));
    new TextTable(out, "PART", "WHAT", "MEDIAN", "MIN - MAX", "UNIT", "OF LIMIT").print(rows);
    out.println();
    out.println(
        "OF LIMIT: commits of 'raw Redis commits', rows of 'raw MySQL rows'. Latency of 'paced'"
            + " counts from when an action was due.");
    out.println();
  }

  private static String range(Figure figure) {
    return figure.values().size() == 1 ? "" : number(figure.min()) + " - " + number(figure.max());
  }

  private void printCurve(String kind, List<GrowthPoint> points) {
    Set<String> whats = new TreeSet<>();
    points.forEach(point -> whats.addAll(point.figures().keySet()));
    List<String> headings = new ArrayList<>(List.of("GROWTH", "UNIT"));
    points.forEach(point -> headings.add(String.format(Locale.ROOT, "%,d", point.x())));
    List<List<String>> rows = new ArrayList<>();
    for (String what : whats) {
      String unit = "";
      List<String> row = new ArrayList<>(List.of(what));
      for (GrowthPoint point : points) {
        Figure figure = point.figures().get(what);
        unit = figure == null ? unit : figure.unit();
        row.add(figure == null ? "" : number(figure.median()));
      }
      row.add(1, unit);
      rows.add(row);
    }
    headings.set(0, "GROWTH OF " + kind.toUpperCase(Locale.ROOT));
    new TextTable(out, headings.toArray(String[]::new)).print(rows);
    out.println();
  }

  private void printCheck(String after, Model.Result check) {
    out.printf(
        Locale.ROOT,
        "check after %s: %,d rows, %s%n",
        after,
        check.rows(),
        check.isFlawless()
            ? "flawless"
            : String.format(
                Locale.ROOT,
                "%,d CHANGES LOST, %,d ROWS LOST, %,d ACTIONS TORN, %,d ROWS DAMAGED",
                check.lostChanges(),
                check.lostRows(),
                check.tornActions(),
                check.damagedRows()));
  }

  /** Three digits at least, all digits of what is large. */
  static String number(double value) {
    double size = Math.abs(value);
    String format = size >= 100 || value == 0 ? "%,.0f" : size >= 10 ? "%.1f" : "%.2f";
    return String.format(Locale.ROOT, size > 0 && size < 0.1 ? "%.3f" : format, value);
  }
}
