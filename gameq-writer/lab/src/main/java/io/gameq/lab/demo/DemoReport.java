package io.gameq.lab.demo;

import java.io.PrintWriter;
import java.util.Locale;
import java.util.Set;
import org.HdrHistogram.Histogram;
import org.jspecify.annotations.Nullable;

/** What a run came to. One thread. */
record DemoReport(DemoStats stats, Mismatches mismatches, Outcome outcome) {
  private static final int MOST_NAMED = 10;

  /**
   * What was found at the end.
   *
   * @param drained rows written between the last commit and the end of the drain
   * @param verified rows compared in MySQL
   * @param notDrained row keys that gameq did not report as durable in time
   * @param broken the row that was dropped on purpose
   */
  record Outcome(
      long written,
      long drained,
      double drainSeconds,
      long verified,
      Set<String> notDrained,
      @Nullable String broken) {}

  boolean flawless() {
    return mismatches.sum() == 0 && stats.errors() == 0 && outcome.notDrained().isEmpty();
  }

  void print(PrintWriter out) {
    long changes = stats.rowChanges.sum();
    line(out, "commits", "%,d", stats.commits.sum());
    line(out, "row changes", "%,d", changes);
    line(out, "rows written to MySQL", "%,d", outcome.written());
    line(
        out,
        "merge ratio",
        "%.2f row changes for each row written",
        (double) changes / Math.max(1, outcome.written()));
    double loginSeconds = stats.loginSeconds();
    latency(
        out,
        "commits at logins",
        stats.whileLoggingIn,
        Double.isNaN(loginSeconds)
            ? "some players were not in by the end"
            : String.format(Locale.ROOT, "until all players were in: %.1f s", loginSeconds));
    if (!Double.isNaN(loginSeconds)) {
      latency(out, "commits after logins", stats.allPlaying, "commit to Redis");
    }
    line(
        out,
        "drain rate",
        "%,.0f rows/s (%,d rows in %.2f s, logouts included)",
        outcome.drained() / Math.max(0.001, outcome.drainSeconds()),
        outcome.drained(),
        outcome.drainSeconds());
    line(
        out,
        "players",
        "%,d logins, %,d moves between nodes, %,d trades, %,d reads from another node",
        stats.logins.sum(),
        stats.moves.sum(),
        stats.trades.sum(),
        stats.reads.sum());
    if (stats.loginsTriedAgain.sum() > 0) {
      line(out, "logins tried again", "%,d, as MySQL was held up", stats.loginsTriedAgain.sum());
    }
    line(
        out,
        "compared",
        "%,d rows in all: at logins, at reads and in MySQL",
        mismatches.compared.sum());
    if (outcome.broken() != null) {
      line(out, "broken on purpose", "dropped %s from MySQL", outcome.broken());
    }
    mismatches.named().forEach(out::println);
    outcome.notDrained().stream()
        .limit(MOST_NAMED)
        .forEach(key -> out.println("not drained: " + key));
    if (stats.errors() > 0) {
      out.printf(Locale.ROOT, "%,d errors, the first: %s%n", stats.errors(), stats.firstError());
    }
    out.printf(
        Locale.ROOT,
        "verified: %d rows, %d lost, %d stale, %d resurrected%n",
        outcome.verified(),
        mismatches.lost.sum(),
        mismatches.stale.sum(),
        mismatches.resurrected.sum());
    out.flush();
  }

  private static void latency(PrintWriter out, String name, CommitLatency of, String remark) {
    Histogram nanos = of.all();
    line(
        out,
        name,
        "p50 %.2f ms, p99 %.2f ms, p99.9 %.2f ms (%s)",
        nanos.getValueAtPercentile(50) / 1e6,
        nanos.getValueAtPercentile(99) / 1e6,
        nanos.getValueAtPercentile(99.9) / 1e6,
        remark);
  }

  private static void line(PrintWriter out, String name, String format, Object... values) {
    out.printf(Locale.ROOT, "%-23s%s%n", name, String.format(Locale.ROOT, format, values));
  }
}
