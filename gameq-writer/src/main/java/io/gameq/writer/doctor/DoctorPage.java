package io.gameq.writer.doctor;

import io.gameq.terminal.Shown;
import io.gameq.terminal.TextTable;
import io.gameq.writer.doctor.Repair.Repaired;
import io.gameq.writer.terminal.JsonLine;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** Prints what was found and mended. Stateless. */
final class DoctorPage {
  private static final int MOST_NAME = 100;

  private DoctorPage() {}

  static void print(Repaired repaired, boolean repair, PrintWriter out) {
    Map<Ailment, List<DoctorFinding>> left = repaired.left().byAilment();
    List<List<String>> lines = new ArrayList<>();
    for (Ailment ailment : Ailment.values()) {
      List<DoctorFinding> some = left.getOrDefault(ailment, List.of());
      int mended = repaired.mended().getOrDefault(ailment, 0);
      if (mended + some.size() > 0) {
        lines.add(
            List.of(
                ailment.title(),
                Integer.toString(mended),
                Integer.toString(some.size()),
                some.isEmpty() ? "" : Shown.cut(some.get(0).where(), MOST_NAME)));
      }
    }
    if (lines.isEmpty()) {
      out.println("nothing found");
      return;
    }
    new TextTable(out, "WHAT", "MENDED", "LEFT", "SUCH AS").print(lines);
    left.keySet()
        .forEach(
            of ->
                out.println(
                    "%n%s%n  comes about when %s%n  --repair %s"
                        .formatted(of.title(), of.cause(), of.repair())));
    if (repaired.left().isCut()) {
      out.println();
      out.println(
          String.format(
              Locale.ROOT, "there is more: at most %,d of a kind are told of", Diagnosis.MOST));
    }
    if (!repair && left.keySet().stream().anyMatch(Ailment::isMended)) {
      out.println();
      out.println("'gameq-writer doctor --repair' mends this");
    }
    out.flush();
  }

  static void json(Repaired repaired, PrintWriter out) {
    repaired
        .mended()
        .forEach(
            (ailment, count) ->
                out.println(JsonLine.of(Map.of("ailment", name(ailment), "mended", count))));
    for (DoctorFinding finding : repaired.left().findings()) {
      Map<String, Object> all = new LinkedHashMap<>();
      all.put("ailment", name(finding.ailment()));
      all.put("slot", finding.thing().slot());
      all.put("place", finding.thing().place());
      all.put("name", finding.thing().name());
      all.put("more", finding.thing().more());
      all.put("repair", finding.ailment().repair());
      out.println(JsonLine.of(all));
    }
    out.flush();
  }

  private static String name(Ailment of) {
    return of.name().toLowerCase(Locale.ROOT);
  }
}
