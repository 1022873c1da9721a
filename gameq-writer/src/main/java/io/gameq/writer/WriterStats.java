package io.gameq.writer;

import java.util.concurrent.atomic.LongAdder;

/** What a writer did since it started. Thread-safe. */
public final class WriterStats {
  private final LongAdder flushes = new LongAdder();
  private final LongAdder owners = new LongAdder();
  private final LongAdder rows = new LongAdder();
  private final LongAdder givenBack = new LongAdder();
  private final LongAdder reaped = new LongAdder();

  void flushed(int flushedOwners, int flushedRows) {
    flushes.increment();
    owners.add(flushedOwners);
    rows.add(flushedRows);
  }

  void gaveBack(int claims) {
    givenBack.add(claims);
  }

  void reaped(int claims) {
    reaped.add(claims);
  }

  /** Flush transactions committed. */
  public long flushes() {
    return flushes.sum();
  }

  /** Claims of owners that were flushed. */
  public long owners() {
    return owners.sum();
  }

  /** Rows written to MySQL, deletes included. */
  public long rows() {
    return rows.sum();
  }

  /** Claims given back unflushed: an outage, a refused row, a newer session. */
  public long givenBack() {
    return givenBack.sum();
  }

  /** Claims of other writers taken back when their lease ran out. */
  public long reaped() {
    return reaped.sum();
  }

  @Override
  public String toString() {
    return "flushes %d, owners %d, rows %d, given back %d, reaped %d"
        .formatted(flushes(), owners(), rows(), givenBack(), reaped());
  }
}
