package io.gameq.agent;

import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import java.util.function.Supplier;

/**
 * Logs one line for each cause and interval, however many owners or rows it concerns: the first of
 * them as an example, and with the next line how many there were beside it. Thread-safe.
 */
public final class RepeatedWarnings {
  private static final int MOST_CAUSES = 1_000;

  private final long everyNanos;
  private final LongSupplier nanoTime;
  private final Map<String, LastLine> said = new HashMap<>();

  /** When the last line of a cause was, and how often it was not said since. */
  private record LastLine(long nanos, long unsaid) {}

  /** One line every so many seconds. */
  public RepeatedWarnings(long everySeconds) {
    this(everySeconds, System::nanoTime);
  }

  RepeatedWarnings(long everySeconds, LongSupplier nanoTime) {
    this.everyNanos = TimeUnit.SECONDS.toNanos(everySeconds);
    this.nanoTime = nanoTime;
  }

  /**
   * Logs a text, unless its cause was logged a moment ago.
   *
   * @param cause one of few: not one for each owner
   */
  public void about(String cause, Consumer<String> log, Supplier<String> text) {
    LastLine before;
    synchronized (this) {
      long now = nanoTime.getAsLong();
      before = said.get(cause);
      if (before != null && now - before.nanos < everyNanos) {
        said.put(cause, new LastLine(before.nanos, before.unsaid + 1));
        return;
      }
      if (before == null && said.size() >= MOST_CAUSES) {
        said.clear();
      }
      said.put(cause, new LastLine(now, 0));
    }
    log.accept(
        before == null || before.unsaid == 0
            ? text.get()
            : String.format(
                Locale.ROOT,
                "%s (and %,d like it since the last line)",
                text.get(),
                before.unsaid));
  }
}
