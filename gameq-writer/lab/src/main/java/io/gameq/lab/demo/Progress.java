package io.gameq.lab.demo;

import java.io.PrintWriter;
import java.util.Locale;
import java.util.function.LongSupplier;
import org.HdrHistogram.Histogram;
import picocli.CommandLine;

/** One line a second of how the run goes, on one line of a terminal. One thread. */
final class Progress {
  private final DemoStats stats;
  private final LongSupplier rowsWritten;
  private final PrintWriter err;
  private final boolean terminal = CommandLine.Help.Ansi.AUTO.enabled();
  private long lastCommits;
  private long lastChanges;
  private long lastWritten;

  Progress(DemoStats stats, LongSupplier rowsWritten, PrintWriter err) {
    this.stats = stats;
    this.rowsWritten = rowsWritten;
    this.err = err;
  }

  void line(int second) {
    long commits = stats.commits.sum();
    long changes = stats.rowChanges.sum();
    long written = rowsWritten.getAsLong();
    Histogram latency = stats.whileLoggingIn.sinceLastCall();
    latency.add(stats.allPlaying.sinceLastCall());
    String text =
        String.format(
            Locale.ROOT,
            "%3d s  %,7d commits/s  %,7d row changes/s  %,7d rows to MySQL/s  p50 %5.2f, p99 %6.2f"
                + " ms  %,d logins, %,d moves, %,d trades",
            second,
            commits - lastCommits,
            changes - lastChanges,
            written - lastWritten,
            latency.getValueAtPercentile(50) / 1e6,
            latency.getValueAtPercentile(99) / 1e6,
            stats.logins.sum(),
            stats.moves.sum(),
            stats.trades.sum());
    lastCommits = commits;
    lastChanges = changes;
    lastWritten = written;
    if (terminal) {
      err.print("\r" + text + " ");
    } else {
      err.println(text);
    }
    err.flush();
  }

  void end() {
    if (terminal) {
      err.println();
    }
  }
}
