package io.gameq.lab.demo;

import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/**
 * Measures how fast the writers empty Redis: up to the last row written, since the nodes may learn
 * later that it was. One thread, and one of its own that looks.
 */
final class DemoDrain {
  private static final long LOOK_MILLIS = 5;

  private final LongSupplier rowsWritten;
  private final long before;
  private final long began = System.nanoTime();
  private final Thread looking = new Thread(this::look, "drain");
  private volatile boolean ended;
  private volatile long rows;
  private volatile long lastNanos = began;

  private DemoDrain(LongSupplier rowsWritten) {
    this.rowsWritten = rowsWritten;
    this.before = rowsWritten.getAsLong();
  }

  static DemoDrain begin(LongSupplier rowsWritten) {
    DemoDrain drain = new DemoDrain(rowsWritten);
    drain.looking.setDaemon(true);
    drain.looking.start();
    return drain;
  }

  void end() throws InterruptedException {
    ended = true;
    looking.join();
  }

  /** Rows written since the beginning. */
  long rows() {
    return rows;
  }

  /** From the beginning to the last row. */
  double seconds() {
    return (lastNanos - began) / 1e9;
  }

  private void look() {
    try {
      boolean last;
      do {
        last = ended;
        long now = rowsWritten.getAsLong() - before;
        if (now != rows) {
          rows = now;
          lastNanos = System.nanoTime();
        }
        TimeUnit.MILLISECONDS.sleep(LOOK_MILLIS);
      } while (!last);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
