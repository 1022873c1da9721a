package io.gameq.writer.turn;

import io.gameq.terminal.Shown;
import java.util.Collection;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Tables that take no rows for a while, because they or a column are missing, somebody has locked
 * them, or MySQL refuses most of their rows: those stay in Redis, rows of other tables go on.
 * Thread-safe.
 */
public final class ParkedTables {
  /** Bounds both the statements that fail in vain and the delay once the table is mended. */
  static final long RETRY_MILLIS = 5_000;

  private static final long RETRY_NANOS = TimeUnit.MILLISECONDS.toNanos(RETRY_MILLIS);

  private static final Logger LOG = LoggerFactory.getLogger(ParkedTables.class);

  private static final long COMPLAIN_EVERY_NANOS = TimeUnit.SECONDS.toNanos(60);

  private final Map<String, Long> untilNanos = new ConcurrentHashMap<>();
  private final Map<String, String> reasons = new ConcurrentHashMap<>();
  private final Map<String, Long> complainedNanos = new ConcurrentHashMap<>();

  /** Tables of which single rows wait: they are met again at the next try. */
  private final Map<String, Misfits> misfits = new ConcurrentHashMap<>();

  private record Misfits(String reason, long seenNanos) {
    boolean isRecent() {
      return System.nanoTime() - seenNanos < 3 * RETRY_NANOS;
    }
  }

  /** Rows of a table wait, others may pass: says why, now and then. */
  void keepSome(String table, String reason) {
    misfits.put(table, new Misfits(reason, System.nanoTime()));
    complain(table, reason);
  }

  /** Whether rows of any table wait. */
  boolean keepsSome() {
    return misfits.values().stream().anyMatch(Misfits::isRecent);
  }

  /** Whether rows of these tables were found not to fit within the last few seconds. */
  boolean keptLately(Collection<String> tables) {
    long now = System.nanoTime();
    return tables.stream()
        .map(misfits::get)
        .allMatch(of -> of != null && now - of.seenNanos < RETRY_NANOS);
  }

  private void complain(String table, String reason) {
    long now = System.nanoTime();
    if (now - complainedNanos.getOrDefault(table, now - COMPLAIN_EVERY_NANOS)
        >= COMPLAIN_EVERY_NANOS) {
      complainedNanos.put(table, now);
      LOG.error(
          "table {} does not take these rows ({}): they stay in Redis and are tried again every {}",
          table,
          reason,
          Shown.duration(RETRY_MILLIS));
    }
  }

  void park(String table, String reason) {
    complain(table, reason);
    reasons.put(table, reason);
    untilNanos.put(table, System.nanoTime() + RETRY_NANOS);
  }

  /** A flush wrote into these tables. */
  void passed(Collection<String> tables) {
    untilNanos.keySet().removeAll(tables);
    reasons.keySet().removeAll(tables);
  }

  /** Those that take no rows now, or not all. */
  public Set<String> names() {
    return reasons().keySet();
  }

  /** The same, each with why. */
  public Map<String, String> reasons() {
    Map<String, String> all = new TreeMap<>();
    misfits.values().removeIf(of -> !of.isRecent());
    misfits.forEach((table, of) -> all.put(table, of.reason));
    untilNanos.keySet().forEach(table -> all.put(table, reasons.getOrDefault(table, "locked")));
    return all;
  }

  boolean isEmpty() {
    return untilNanos.isEmpty();
  }

  /** What holds for one batch, whose rows of a table all wait or none does. */
  Now now() {
    return new Now();
  }

  /** Used by one thread. */
  final class Now {
    private final Map<String, Boolean> known = new HashMap<>();

    /** Of a row's own table. */
    boolean isParked(String table) {
      return known.computeIfAbsent(table, ParkedTables.this::isParked);
    }

    /** Of a table that it refers to, which is tried by rows of its own only. */
    boolean isParentParked(String table) {
      return known.computeIfAbsent(table, ParkedTables.this::isWithinItsTime);
    }
  }

  private boolean isWithinItsTime(String table) {
    Long until = untilNanos.get(table);
    return until != null && System.nanoTime() - until < 0;
  }

  /** Once the time is over, one who asks may try for all others, for whom it stays parked. */
  private boolean isParked(String table) {
    Long until = untilNanos.get(table);
    if (until == null) {
      return false;
    }
    long now = System.nanoTime();
    return now - until < 0 || !untilNanos.replace(table, until, now + RETRY_NANOS);
  }
}
