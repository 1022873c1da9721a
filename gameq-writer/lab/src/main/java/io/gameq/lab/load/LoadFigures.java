package io.gameq.lab.load;

import io.gameq.lab.report.Figures;

/** Names what a load came to. Stateless. */
public final class LoadFigures {
  private LoadFigures() {}

  public static void add(Figures figures, String part, Load.Result load, int rowsPerAction) {
    double actions = Math.max(1, load.actions());
    Resources.Used used = load.used();
    figures.add(part, "commits", "1/s", load.perSecond());
    figures.add(part, "row changes", "1/s", load.perSecond() * rowsPerAction);
    figures.addMicros(part, "queued", load.queuedNanos());
    figures.addMicros(part, "call", load.callNanos());
    figures.addMillis(part, "hand-over", load.handOverNanos());
    figures.add(
        part,
        "allocated for each row change",
        "B",
        used.allocatedBytes() / actions / rowsPerAction);
    figures.add(part, "processor for each commit", "us", used.cpuSeconds() * 1e6 / actions);
    figures.add(part, "collections", "", (double) used.gcCount());
    figures.add(part, "collections together", "ms", (double) used.gcMillis());
    figures.add(part, "longest collection", "ms", (double) used.longestGcMillis());
  }
}
