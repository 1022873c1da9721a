package io.gameq.writer.turn;

import io.gameq.mysql.flush.FlushTransaction.Written;
import java.util.List;
import java.util.concurrent.atomic.LongAdder;

/** What a writer did since it started. Thread-safe. */
public final class WriterStats {
  private final LongAdder flushes = new LongAdder();
  private final LongAdder owners = new LongAdder();
  private final LongAdder rows = new LongAdder();
  private final LongAdder givenBack = new LongAdder();
  private final LongAdder reaped = new LongAdder();
  private final LongAdder deadLetters = new LongAdder();
  private final LongAdder stale = new LongAdder();

  void flushed(List<Written> written) {
    flushes.increment();
    owners.add(written.size());
    for (Written of : written) {
      deadLetters.add(of.setAside().size());
      rows.add(of.of().rows().size() + of.of().unreadable().size() - of.setAside().size());
    }
  }

  void foundStale() {
    stale.increment();
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

  /** Rows set aside because MySQL refused them. */
  public long deadLetters() {
    return deadLetters.sum();
  }

  /** Sessions that committed after they had lost ownership: their rows are kept, not flushed. */
  public long stale() {
    return stale.sum();
  }

  @Override
  public String toString() {
    return ("flushes %d, owners %d, rows %d, given back %d, reaped %d, dead letters %d,"
            + " stale sessions %d")
        .formatted(flushes(), owners(), rows(), givenBack(), reaped(), deadLetters(), stale());
  }
}
