package io.gameq.writer.dead;

import io.gameq.terminal.Shown;
import io.gameq.writer.letters.LetterName;
import io.gameq.writer.letters.RetryText;
import io.gameq.writer.mysql.DeadLetterRetry.Gone;
import io.gameq.writer.mysql.DeadLetterRetry.Outcome;
import io.gameq.writer.mysql.DeadLetterRetry.Superseded;
import io.gameq.writer.mysql.DeadLetterRetry.Written;
import java.io.PrintWriter;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.StringJoiner;

/** Prints and counts what became of dead letters. Used by one thread. */
final class RetryReport {
  private final PrintWriter out;
  private final LetterProgress progress;
  private final boolean dryRun;
  private final Map<String, Long> counts = new LinkedHashMap<>();

  RetryReport(PrintWriter out, LetterProgress progress, boolean dryRun) {
    this.out = out;
    this.progress = progress;
    this.dryRun = dryRun;
  }

  void line(LetterName letter, Outcome outcome) {
    String kind = RetryText.kind(outcome);
    counts.merge(kind, 1L, Long::sum);
    out.println(letter + ": " + (dryRun ? "would be " : "") + kind + detail(outcome));
    progress.one();
  }

  void summary() {
    StringJoiner line = new StringJoiner(", ");
    line.add(Shown.count(done(), "dead letter"));
    counts.forEach((kind, count) -> line.add(String.format(Locale.ROOT, "%,d %s", count, kind)));
    out.println(line + (dryRun ? " (dry run: nothing was changed)" : ""));
  }

  /** Whether no letter is left. */
  boolean allDone() {
    return done() == count(new Written()) + count(new Superseded()) + count(new Gone());
  }

  private long done() {
    return counts.values().stream().mapToLong(Long::longValue).sum();
  }

  private long count(Outcome kind) {
    return counts.getOrDefault(RetryText.kind(kind), 0L);
  }

  private static String detail(Outcome outcome) {
    String why = RetryText.detail(outcome);
    return why.isEmpty() ? "" : " (" + why + ")";
  }
}
