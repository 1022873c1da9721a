package io.gameq.writer.cli;

import io.gameq.terminal.ExitCodes;
import io.gameq.terminal.Shown;
import io.gameq.writer.admin.Done;
import java.io.PrintWriter;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.StringJoiner;
import java.util.concurrent.TimeUnit;

/**
 * Prints what became of dead letters, one a line, says on stderr every few seconds how far the
 * command is, and sums up. Used by one thread.
 */
final class DoneReport {
  private static final long EVERY_NANOS = TimeUnit.SECONDS.toNanos(5);

  private final AdminCommand command;
  private final long total;
  private final String prefix;
  private final Map<String, Long> counts = new LinkedHashMap<>();
  private long done;
  private long toldNanos = System.nanoTime();
  private int exitCode = ExitCodes.OK;

  /**
   * Begins.
   *
   * @param total how many letters there are
   * @param isDryRun whether nothing is changed
   */
  DoneReport(AdminCommand command, long total, boolean isDryRun) {
    this.command = command;
    this.total = total;
    this.prefix = isDryRun ? "would be " : "";
  }

  /** Prints one. */
  void add(Done of) {
    if (of.result() != Done.Result.DONE) {
      exitCode = ExitCodes.FOUND_SOMETHING;
    }
    counts.merge(of.became(), 1L, Long::sum);
    command.out().println(of.name() + ": " + prefix + of.text());
    progress();
  }

  /** One more is done. */
  void progress() {
    done++;
    if (System.nanoTime() - toldNanos >= EVERY_NANOS) {
      toldNanos = System.nanoTime();
      PrintWriter err = command.err();
      err.println(String.format(Locale.ROOT, "%,d of %,d dead letters done", done, total));
      err.flush();
    }
  }

  /**
   * Sums up.
   *
   * @param where such as {@code of topic mail}; empty of rows
   * @return 1 when a letter is left
   */
  int sum(String where) {
    StringJoiner line = new StringJoiner(", ");
    line.add(Shown.count(done, "dead letter") + where);
    counts.forEach(
        (became, count) -> line.add(String.format(Locale.ROOT, "%,d %s", count, became)));
    command.out().println(line + (prefix.isEmpty() ? "" : " (dry run: nothing was changed)"));
    return exitCode;
  }
}
