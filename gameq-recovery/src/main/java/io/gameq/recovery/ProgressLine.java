package io.gameq.recovery;

import java.io.PrintWriter;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import picocli.CommandLine;

/**
 * Says how far a command is: on one line of a terminal that changes, else a line every few seconds.
 * One thread.
 */
final class ProgressLine {
  private static final long TERMINAL_EVERY_NANOS = TimeUnit.MILLISECONDS.toNanos(100);
  private static final long LOG_EVERY_NANOS = TimeUnit.SECONDS.toNanos(5);
  private static final int BAR = 30;

  private final PrintWriter err;
  private final boolean terminal = CommandLine.Help.Ansi.AUTO.enabled();
  private final long begunNanos = System.nanoTime();
  private long lastNanos = begunNanos;
  private int width;

  ProgressLine(PrintWriter err) {
    this.err = err;
  }

  /** A step that cannot be measured. */
  void step(String text) {
    if (terminal) {
      show(text + " ...");
    }
  }

  /** So many of all are done. */
  void rows(String verb, long done, long all) {
    long now = System.nanoTime();
    if (now - lastNanos < (terminal ? TERMINAL_EVERY_NANOS : LOG_EVERY_NANOS)) {
      return;
    }
    lastNanos = now;
    double seconds = (now - begunNanos) / 1e9;
    int full = all == 0 ? BAR : (int) Math.min(BAR, BAR * done / all);
    show(
        String.format(
            Locale.ROOT,
            "%s [%s%s] %,d of %,d rows, %,.0f rows/s",
            verb,
            "#".repeat(full),
            " ".repeat(BAR - full),
            done,
            all,
            done / seconds));
  }

  private void show(String text) {
    if (terminal) {
      err.print("\r" + text + " ".repeat(Math.max(0, width - text.length())));
      width = text.length();
    } else {
      err.println(text);
    }
    err.flush();
  }

  /** Leaves the line free for what is printed next. */
  void end() {
    if (terminal && width > 0) {
      err.print("\r" + " ".repeat(width) + "\r");
      err.flush();
      width = 0;
    }
  }
}
