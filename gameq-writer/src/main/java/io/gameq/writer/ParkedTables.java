package io.gameq.writer;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Tables that take no rows for a while, because they or a column are missing: their rows stay in
 * Redis, those of other tables go on. Thread-safe.
 */
final class ParkedTables {
  /** Bounds both the statements that fail in vain and the delay once the table is mended. */
  static final long RETRY_MILLIS = 5_000;

  private static final Logger LOG = LoggerFactory.getLogger(ParkedTables.class);

  private static final long COMPLAIN_EVERY_NANOS = TimeUnit.SECONDS.toNanos(60);

  private final Map<String, Long> untilNanos = new ConcurrentHashMap<>();
  private final Map<String, Long> complainedNanos = new ConcurrentHashMap<>();

  /** Says, now and then, why rows of a table wait. */
  void complain(String table, String reason) {
    long now = System.nanoTime();
    if (now - complainedNanos.getOrDefault(table, now - COMPLAIN_EVERY_NANOS)
        >= COMPLAIN_EVERY_NANOS) {
      complainedNanos.put(table, now);
      LOG.error(
          "table {} does not take these rows ({}): they stay in Redis and are tried again every {} ms",
          table,
          reason,
          RETRY_MILLIS);
    }
  }

  void park(String table, String reason) {
    complain(table, reason);
    untilNanos.put(table, System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(RETRY_MILLIS));
  }

  boolean isParked(String table) {
    Long until = untilNanos.get(table);
    return until != null && System.nanoTime() - until < 0;
  }
}
