package io.gameq.writer;

import java.util.concurrent.atomic.LongAdder;

/** What a writer did since it started. Thread-safe. */
public final class WriterStats {
  public final LongAdder flushes = new LongAdder();
  public final LongAdder owners = new LongAdder();
  public final LongAdder rows = new LongAdder();
  public final LongAdder nacked = new LongAdder();
  public final LongAdder reaped = new LongAdder();
  public final LongAdder busyNanos = new LongAdder();

  @Override
  public String toString() {
    return "flushes %d, owners %d, rows %d, given back %d, reaped %d"
        .formatted(flushes.sum(), owners.sum(), rows.sum(), nacked.sum(), reaped.sum());
  }
}
