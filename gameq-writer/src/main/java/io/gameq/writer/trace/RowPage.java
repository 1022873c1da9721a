package io.gameq.writer.trace;

import io.gameq.terminal.Shown;
import io.gameq.terminal.TextTable;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;

/** Prints a {@link RowTrace}. Stateless. */
final class RowPage {
  private RowPage() {}

  static void print(RowTrace trace, boolean values, PrintWriter out) {
    out.println(
        Shown.text(trace.rowKey())
            + (trace.isManaged() ? "" : ": no row of a managed table has this key"));
    new TextTable(out, "WHERE", "OWNER", "VERSION", "COMMITTED (UTC)", "OP", "SESSION", "")
        .leavingOut("SESSION", "OP", "VERSION")
        .print(trace.places().stream().map(RowPage::cells).toList());
    List<RowPlace> images = trace.places().stream().filter(of -> of.image() != null).toList();
    if (!images.isEmpty()) {
      columns(images, values, out);
    }
    trace
        .owners()
        .forEach(
            of ->
                out.println(
                    "owner %s: %s"
                        .formatted(Shown.text(of.owner().id()), WhatNext.of(of).sentence())));
    out.println("next: " + trace.next().sentence());
  }

  static String name(RowPlace.Where where) {
    return where.name().toLowerCase(Locale.ROOT).replace('_', ' ');
  }

  private static List<String> cells(RowPlace of) {
    return List.of(
        name(of.where()),
        Shown.text(of.owner().id()),
        Long.toUnsignedString(of.version()),
        of.version() == 0 ? "" : Shown.utc(Shown.time(of.version())),
        of.op() == null ? "" : of.op().name().toLowerCase(Locale.ROOT),
        of.where() == RowPlace.Where.DEAD_LETTER ? "letter " + of.session() : of.session(),
        Shown.text(of.note()));
  }

  /** Side by side, a star where they differ; or, with values hidden, which ones differ. */
  private static void columns(List<RowPlace> places, boolean values, PrintWriter out) {
    List<Map<String, String>> images = new ArrayList<>();
    Set<String> columns = new LinkedHashSet<>();
    for (RowPlace place : places) {
      images.add(place.columns());
      columns.addAll(place.columns().keySet());
    }
    Set<String> different = new LinkedHashSet<>(columns);
    different.removeIf(
        column ->
            images.stream()
                    .filter(of -> of.containsKey(column))
                    .map(of -> of.get(column))
                    .distinct()
                    .count()
                == 1);
    if (!values) {
      if (images.size() > 1) {
        out.println(
            different.isEmpty()
                ? "all columns are the same"
                : "columns that differ: "
                    + Shown.text(String.join(", ", different))
                    + " (their values: --values)");
      }
      return;
    }
    List<String> headings = new ArrayList<>(List.of("COLUMN"));
    places.forEach(of -> headings.add(name(of.where()).toUpperCase(Locale.ROOT)));
    List<List<String>> lines = new ArrayList<>();
    for (String column : columns) {
      List<String> line = new ArrayList<>();
      line.add((different.contains(column) ? "* " : "  ") + Shown.text(column));
      images.forEach(of -> line.add(of.containsKey(column) ? "= " + of.get(column) : ""));
      lines.add(line);
    }
    new TextTable(out, headings.toArray(String[]::new)).print(lines);
  }
}
