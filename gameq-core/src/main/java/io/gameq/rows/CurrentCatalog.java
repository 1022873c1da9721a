package io.gameq.rows;

import java.util.function.Supplier;

/**
 * The catalogue as it was read last, read again where a row does not fit it. Thread-safe; one
 * thread reads at a time, and those that wait for it take what it read.
 */
public final class CurrentCatalog {
  private final Supplier<Catalog> reader;
  private volatile Read last;

  private record Read(Catalog catalog, long beganNanos) {}

  /**
   * Begins with a catalogue.
   *
   * @param reader reads it again; throws {@link io.gameq.MySqlException} when MySQL does not answer
   */
  public CurrentCatalog(Catalog first, Supplier<Catalog> reader) {
    this.reader = reader;
    this.last = new Read(first, System.nanoTime());
  }

  /** What was read last. */
  public Catalog get() {
    return last.catalog;
  }

  /**
   * A catalogue that was read after a moment, and so fits what was written before it.
   *
   * @param nanos of {@link System#nanoTime}
   * @throws io.gameq.MySqlException when MySQL does not answer
   */
  public Catalog readAfter(long nanos) {
    synchronized (reader) {
      if (last.beganNanos - nanos < 0) {
        long began = System.nanoTime();
        last = new Read(reader.get(), began);
      }
      return last.catalog;
    }
  }

  /** When the last reading began, of {@link System#nanoTime}. */
  public long lastReadNanos() {
    return last.beganNanos;
  }
}
