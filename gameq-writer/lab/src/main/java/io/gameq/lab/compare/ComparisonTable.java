package io.gameq.lab.compare;

import io.gameq.lab.report.Figure;
import io.gameq.lab.report.Figures;
import io.gameq.terminal.TextTable;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.function.ToDoubleFunction;
import org.jspecify.annotations.Nullable;

/** Prints the figures of a comparison with a line for each contender. Stateless. */
final class ComparisonTable {
  private static final String KILLS = "kill -9 of ";
  private static final String CLOSED_LOOP = "closed loop";

  private ComparisonTable() {}

  /** The part of the figures that holds a contender's rounds. */
  static String part(String contender, int inFlight) {
    return contender + ", " + (inFlight == 1 ? CLOSED_LOOP : "pressure " + inFlight);
  }

  /** The part of the figures that holds a contender's kills. */
  static String killsOf(String contender) {
    return KILLS + contender;
  }

  /** Medians of the rounds, and what each kill cost. */
  static void print(Figures figures, PrintWriter out) {
    List<List<String>> rounds = new ArrayList<>();
    List<List<String>> kills = new ArrayList<>();
    figures
        .all()
        .forEach(
            (part, of) -> {
              if (part.startsWith(KILLS)) {
                kills.add(killLine(part, of));
              } else {
                rounds.add(roundLine(part, of));
              }
            });
    if (!rounds.isEmpty()) {
      out.println();
      new TextTable(
              out,
              "CONTENDER",
              "LOAD",
              "ACCEPTED changes/s (min-max)",
              "ACTION p50 us",
              "p99 us",
              "p99.9 us",
              "CALL p99 us",
              "END TO END changes/s (min-max)",
              "ROWS WRITTEN",
              "LOST",
              "TORN")
          .print(rounds);
      out.println("medians of all rounds");
    }
    if (!kills.isEmpty()) {
      out.println();
      new TextTable(
              out,
              "kill -9 of",
              "TIMES",
              "ACKNOWLEDGED actions",
              "LOST changes",
              "LOST rows",
              "TORN actions")
          .print(kills);
    }
    out.flush();
  }

  private static List<String> roundLine(String part, Map<String, Figure> of) {
    int comma = part.indexOf(',');
    return List.of(
        part.substring(0, comma),
        part.substring(comma + 2),
        spread(of.get("row changes")),
        median(of.get("queued p50")),
        median(of.get("queued p99")),
        median(of.get("queued p99.9")),
        part.endsWith(CLOSED_LOOP) ? "" : median(of.get("call p99")),
        spread(of.get("row changes from end to end")),
        median(of.get("rows written in all")),
        median(of.get("lost changes")),
        median(of.get("torn actions")));
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
    return number(figure, Figure::median);
  }

  private static String spread(@Nullable Figure figure) {
    return figure == null
        ? ""
        : "%s (%s-%s)"
            .formatted(median(figure), number(figure, Figure::min), number(figure, Figure::max));
  }

  private static String each(@Nullable Figure figure) {
    return figure == null
        ? ""
        : String.join(" / ", figure.values().stream().map(ComparisonTable::number).toList());
  }

  private static String number(@Nullable Figure figure, ToDoubleFunction<Figure> of) {
    return figure == null ? "" : number(of.applyAsDouble(figure));
  }

  private static String number(double value) {
    return String.format(Locale.ROOT, "%,.0f", value);
  }
}
