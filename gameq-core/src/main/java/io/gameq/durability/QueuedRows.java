package io.gameq.durability;

import io.gameq.change.ChangedRow;
import io.gameq.change.Commit;
import java.util.Collection;
import java.util.HashMap;
import java.util.Iterator;
import java.util.Map;
import java.util.Set;
import java.util.function.BiConsumer;
import java.util.function.LongConsumer;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * The rows of one session that wait in Redis until a notice says that their version is in MySQL,
 * and what the notices said. Used under the {@link DurableTracker}'s lock.
 */
final class QueuedRows {
  private final Map<String, QueuedRow> rows = new HashMap<>();

  /** Rows that the last notices said wait on, in a version up to this one. */
  private final Map<String, Long> kept = new HashMap<>();

  /** What the rows take at most: counted anew when it may decide about room. */
  private long bytes;

  /**
   * Whether one of the rows may be of a trade, or have been: where none is, what a row was before
   * need not be read, which no processor has in its caches any more.
   */
  private boolean hasTrades;

  private long durableVersion;
  private long highestVersion;

  boolean isEmpty() {
    return rows.isEmpty();
  }

  int size() {
    return rows.size();
  }

  boolean contains(String key) {
    return rows.containsKey(key);
  }

  @Nullable QueuedRow get(String key) {
    return rows.get(key);
  }

  Set<String> keys() {
    return rows.keySet();
  }

  void forEach(BiConsumer<String, QueuedRow> action) {
    rows.forEach(action);
  }

  /** Everything up to here is in MySQL, but for rows that are {@linkplain #isKept kept}. */
  long durableVersion() {
    return durableVersion;
  }

  /** The lowest version; {@link Long#MAX_VALUE} when there is no row. */
  long oldestVersion() {
    long oldest = Long.MAX_VALUE;
    for (QueuedRow row : rows.values()) {
      oldest = Math.min(oldest, row.version());
    }
    return oldest;
  }

  long bytesAtMost() {
    return bytes;
  }

  /** The bytes of each row; from now on {@link #bytesAtMost} is their sum. */
  Map<String, Integer> countBytes() {
    Map<String, Integer> byKey = new HashMap<>();
    rows.forEach((key, row) -> byKey.put(key, row.bytes()));
    bytes = byKey.values().stream().mapToLong(Integer::longValue).sum();
    return byKey;
  }

  /** Rows that were adopted, or of which one was; the newer version of each counts. */
  void add(String key, QueuedRow row) {
    rows.merge(key, row, QueuedRow::newer);
    bytes += row.bytes();
    reachedRedis(row.version());
  }

  /** A row of a commit that Redis holds; later than all before, as commits arrive in order. */
  void put(ChangedRow row, Commit commit) {
    if (commit.version() <= durableVersion) {
      return;
    }
    hasTrades = commit.isSpanning() || (hasTrades && !rows.isEmpty());
    QueuedRow queued =
        new QueuedRow(commit.version(), commit.sequence(), row.bytes(), false, commit.isSpanning());
    bytes += queued.bytes();
    QueuedRow old = rows.put(row.key(), queued);
    if (old != null && hasTrades) {
      rows.put(row.key(), queued.after(old));
    }
  }

  /** Redis has rows up to this version. */
  void reachedRedis(long version) {
    highestVersion = Math.max(highestVersion, version);
  }

  /** See {@link DurableTracker#beyond}. */
  void beyond(long mark, LongConsumer sequences) {
    for (QueuedRow newest : rows.values()) {
      for (QueuedRow row = newest; row != null; row = row.before()) {
        if (row.isAdopted() || row.sequence() > mark) {
          sequences.accept(row.sequence());
        }
      }
    }
  }

  /** Takes out what matches, and hands it over. */
  void takeOut(Predicate<QueuedRow> which, BiConsumer<String, QueuedRow> taken) {
    for (Iterator<Map.Entry<String, QueuedRow>> it = rows.entrySet().iterator(); it.hasNext(); ) {
      Map.Entry<String, QueuedRow> row = it.next();
      if (which.test(row.getValue())) {
        taken.accept(row.getKey(), row.getValue());
        it.remove();
      }
    }
  }

  /** The same of these rows only. */
  void takeOut(
      Collection<String> keys, Predicate<QueuedRow> which, BiConsumer<String, QueuedRow> taken) {
    for (String key : keys) {
      QueuedRow row = rows.get(key);
      if (row != null && which.test(row)) {
        rows.remove(key);
        taken.accept(key, row);
      }
    }
  }

  /** A notice: everything up to this version is in MySQL, but for rows that wait on. */
  void flushed(long version, Map<String, Long> waitOn) {
    kept.values().removeIf(v -> v <= version); // flushed, or named again
    kept.putAll(waitOn);
    durableUpTo(version);
  }

  /** When no row waits any more, everything that Redis was given is in MySQL; else false. */
  boolean flushedIfEmpty() {
    if (!rows.isEmpty()) {
      return false;
    }
    durableUpTo(highestVersion);
    return true;
  }

  private void durableUpTo(long version) {
    durableVersion = Math.max(durableVersion, version);
    rows.entrySet()
        .removeIf(row -> row.getValue().version() <= durableVersion && !isKept(row.getKey()));
  }

  boolean isKept(String key) {
    return kept.containsKey(key);
  }

  boolean keepsNone() {
    return kept.isEmpty();
  }

  void forgetKept() {
    kept.clear();
  }

  void forgetKept(String key) {
    kept.remove(key);
  }

  void forgetKeptUpTo(Map<String, Long> versions) {
    kept.entrySet().removeIf(row -> row.getValue() <= versions.getOrDefault(row.getKey(), -1L));
  }

  /** Rows that need not be waited for, up to these versions. */
  void removeUpTo(Map<String, Long> versions) {
    versions.forEach(this::removeUpTo);
  }

  void removeUpTo(String key, long version) {
    rows.computeIfPresent(key, (k, row) -> row.version() <= version ? null : row);
  }
}
