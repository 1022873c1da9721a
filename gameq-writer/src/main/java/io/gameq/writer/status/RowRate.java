package io.gameq.writer.status;

import java.util.concurrent.TimeUnit;

/** Rows a second between two looks. Thread-safe. */
public final class RowRate {
  private long rowsBefore;
  private long nanosBefore = System.nanoTime();

  /** Since the look before, or since this was made. */
  public synchronized double perSecond(long rowsNow) {
    long now = System.nanoTime();
    double seconds = (double) (now - nanosBefore) / TimeUnit.SECONDS.toNanos(1);
    double rate = seconds <= 0 ? 0 : (rowsNow - rowsBefore) / seconds;
    rowsBefore = rowsNow;
    nanosBefore = now;
    return rate;
  }
}
