package io.gameq.writer.dead;

import java.io.PrintWriter;
import java.util.Locale;
import java.util.concurrent.TimeUnit;

/** Says on stderr every few seconds how far a command is. Used by one thread. */
final class LetterProgress {
  private static final long EVERY_NANOS = TimeUnit.SECONDS.toNanos(5);

  private final PrintWriter err;
  private final long total;
  private long done;
  private long toldNanos = System.nanoTime();

  LetterProgress(PrintWriter err, long total) {
    this.err = err;
    this.total = total;
  }

  /** One more is done. */
  void one() {
    done++;
    if (System.nanoTime() - toldNanos >= EVERY_NANOS) {
      toldNanos = System.nanoTime();
      err.println(String.format(Locale.ROOT, "%,d of %,d dead letters done", done, total));
      err.flush();
    }
  }
}
