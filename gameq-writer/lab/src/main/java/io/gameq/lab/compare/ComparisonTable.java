package io.gameq.lab.compare;

import io.gameq.lab.report.BenchResult;
import io.gameq.lab.report.Figure;
import io.gameq.lab.report.Figures;
import io.gameq.lab.report.Series;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.function.DoubleFunction;
import org.jspecify.annotations.Nullable;

/** Prints the figures of a comparison as Markdown, a line for each contender. Stateless. */
final class ComparisonTable {
  private static final String KILLS = "kill -9 of ";

  private ComparisonTable() {}

  /** The part of the figures that holds kills of a contender's process. */
  static String killsOf(String contender, String process) {
    return killsOf(contender) + process;
  }

  /** What the parts of all its processes begin with. */
  static String killsOf(String contender) {
    return KILLS + contender + ", ";
  }

  /** Medians of the rounds, group by group, what each kill cost, and how each was set up. */
  static void print(
      BenchResult result, Map<String, Map<String, String>> settings, PrintWriter out) {
    Figures figures = result.figures();
    for (Group group : Group.values()) {
      List<List<String>> lines = new ArrayList<>();
      figures
          .all()
          .forEach(
              (part, of) ->
                  group.contender(part).ifPresent(name -> lines.add(roundLine(name, of, group))));
      table(
          out,
          lines,
          group.label(),
          "accepted, row changes/s",
          "action p50, us",
          "p99, us",
          "p99.9, us",
          "end to end, row changes/s",
          "processor, us a row change",
          "of that game + writer ¹",
          "SQL rows/s",
          "changes for each SQL row",
          "lost / torn");
    }
    figures.all().keySet().forEach(part -> samples(part, result.series(part), out));
    List<List<String>> kills = new ArrayList<>();
    figures
        .all()
        .forEach(
            (part, of) -> {
              if (part.startsWith(KILLS)) {
                kills.add(killLine(part, of));
              }
            });
    table(
        out,
        kills,
        "kill -9 of",
        "times",
        "acknowledged actions",
        "lost changes",
        "lost rows",
        "torn actions");
    out.println();
    out.println(
        "Medians of the rounds (lowest-highest); lost and torn of all rounds together. ¹ One figure"
            + " where game and writer are one process. * MySQL lacked acknowledged changes.");
    out.println();
    settings.forEach(
        (name, of) -> {
          if (!of.isEmpty()) {
            out.println("- " + name + ": " + listed(of));
          }
        });
    out.flush();
  }

  /** What was sampled while a load lasted, a line for each look; of several rounds one by one. */
  private static void samples(String part, Map<String, Series> series, PrintWriter out) {
    if (series.isEmpty()) {
      return;
    }
    List<String> headings = new ArrayList<>(List.of(part + ", s"));
    series.forEach(
        (what, of) -> headings.add(of.unit().isEmpty() ? what : what + ", " + of.unit()));
    List<Double> seconds = series.values().iterator().next().seconds();
    List<List<String>> lines = new ArrayList<>();
    for (int i = 0; i < seconds.size(); i++) {
      int at = i;
      List<String> line = new ArrayList<>(List.of(whole(seconds.get(i))));
      series.values().forEach(of -> line.add(whole(of.values().get(at))));
      lines.add(line);
    }
    table(out, lines, headings.toArray(String[]::new));
  }

  private static String listed(Map<String, String> settings) {
    return String.join(
        ", ", settings.entrySet().stream().map(e -> e.getKey() + " " + e.getValue()).toList());
  }

  private static void table(PrintWriter out, List<List<String>> lines, String... headings) {
    if (lines.isEmpty()) {
      return;
    }
    out.println();
    out.println("| " + String.join(" | ", headings) + " |");
    out.println("|---".repeat(headings.length) + "|");
    lines.forEach(line -> out.println("| " + String.join(" | ", line) + " |"));
  }

  private static List<String> roundLine(String name, Map<String, Figure> of, Group group) {
    Figure held = of.get("MySQL held everything");
    Figure written = of.get("rows written in all");
    return List.of(
        name,
        spread(of.get("row changes"), ComparisonTable::whole),
        latency(of, group, "queued p50"),
        latency(of, group, "queued p99"),
        latency(of, group, "queued p99.9"),
        spread(of.get("row changes from end to end"), ComparisonTable::whole)
            + (held != null && held.min() < 1 ? " *" : ""),
        spread(of.get(ProcessorTime.ALL), ComparisonTable::tenths),
        median(of.get(ProcessorTime.GAME))
            + (of.containsKey(ProcessorTime.WRITER)
                ? " + " + median(of.get(ProcessorTime.WRITER))
                : ""),
        ratio(written, of.get("until MySQL held everything"), ComparisonTable::whole),
        ratio(of.get("row changes in all"), written, ComparisonTable::hundredths),
        total(of.get("lost changes")) + " / " + total(of.get("torn actions")));
  }

  /** Limits do not follow the single action. */
  private static String latency(Map<String, Figure> of, Group group, String what) {
    return group == Group.LIMITS ? "-" : spread(of.get(what), ComparisonTable::whole);
  }

  private static List<String> killLine(String part, Map<String, Figure> of) {
    return List.of(
        part.substring(KILLS.length()),
        Integer.toString(Objects.requireNonNull(of.get("killed after")).values().size()),
        each(of.get("acknowledged actions")),
        each(of.get("lost changes")),
        each(of.get("lost rows")),
        each(of.get("torn actions")));
  }

  private static String median(@Nullable Figure figure) {
    return figure == null ? "-" : tenths(figure.median());
  }

  private static String spread(@Nullable Figure figure, DoubleFunction<String> number) {
    if (figure == null) {
      return "-";
    }
    String median = number.apply(figure.median());
    return figure.values().size() == 1
        ? median
        : "%s (%s-%s)".formatted(median, number.apply(figure.min()), number.apply(figure.max()));
  }

  /** Of all rounds together. */
  private static String ratio(
      @Nullable Figure of, @Nullable Figure to, DoubleFunction<String> number) {
    return of == null || to == null || sum(to) == 0 ? "-" : number.apply(sum(of) / sum(to));
  }

  private static String total(@Nullable Figure figure) {
    return figure == null ? "-" : whole(sum(figure));
  }

  private static double sum(Figure figure) {
    return figure.values().stream().mapToDouble(Double::doubleValue).sum();
  }

  private static String each(@Nullable Figure figure) {
    return figure == null
        ? "-"
        : String.join(" / ", figure.values().stream().map(ComparisonTable::whole).toList());
  }

  private static String whole(double value) {
    return String.format(Locale.ROOT, "%,.0f", value);
  }

  private static String tenths(double value) {
    return String.format(Locale.ROOT, "%,.1f", value);
  }

  private static String hundredths(double value) {
    return String.format(Locale.ROOT, "%,.2f", value);
  }
}
