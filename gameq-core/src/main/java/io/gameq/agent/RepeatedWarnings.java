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
  private final Map<String, Said> said = new HashMap<>();

  /** The last line of a cause, and how often it was not said since. */
  private static final class Said {
    private long nanos;
    private long unsaid;
  }

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
    long unsaid = unsaid(cause);
    if (unsaid >= 0) {
      log.accept(
          unsaid == 0
              ? text.get()
              : String.format(
                  Locale.ROOT, "%s (and %,d like it since the last line)", text.get(), unsaid));
    }
  }

  /** How often it was not said since it was last; -1 when it is not to be said now. */
  private synchronized long unsaid(String cause) {
    long now = nanoTime.getAsLong();
    Said of = said.get(cause);
    if (of == null) {
      if (said.size() >= MOST_CAUSES) {
        said.clear();
      }
      of = new Said();
      said.put(cause, of);
    } else if (now - of.nanos < everyNanos) {
      of.unsaid++;
      return -1;
    }
    long unsaid = of.unsaid;
    of.nanos = now;
    of.unsaid = 0;
    return unsaid;
  }
}
