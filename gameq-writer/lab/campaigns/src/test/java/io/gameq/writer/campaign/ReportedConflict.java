package io.gameq.writer.campaign;

import java.util.concurrent.TimeUnit;

/**
 * A row that nobody holds in this version or a newer one, reported by name; immutable. What was
 * written of it before is lost as well, but for what had become durable.
 *
 * @param row {@code table:primary key}
 * @param certain whether it was said to be lost for certain: then MySQL must not hold it
 */
public record ReportedConflict(String row, long version, boolean certain) {
  /** Bits of a version below its Unix milliseconds. */
  private static final int COUNTER_BITS = 16;

  /** What a node's idea of the time of Redis is wrong by, at most, on a busy machine. */
  private static final int CLOCK_ERROR_MILLIS = 50;

  /**
   * Whether the write's version is not newer; where no WAL tells, whether it was invoked before
   * this version was made, by a clock that nobody set.
   */
  boolean covers(Attempt write) {
    Long itsVersion = write.versions.get(row);
    if (itsVersion != null) {
      return itsVersion <= version;
    }
    long sinceMillis = System.currentTimeMillis() - (version >>> COUNTER_BITS);
    long madeAt = System.nanoTime() - TimeUnit.MILLISECONDS.toNanos(sinceMillis);
    return write.invokedAt <= madeAt + TimeUnit.MILLISECONDS.toNanos(CLOCK_ERROR_MILLIS);
  }
}
