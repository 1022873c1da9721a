package io.gameq.durability;

import io.gameq.durability.DurableFutures.Share;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.LongConsumer;
import java.util.function.Predicate;

/**
 * The rows of one session of which notices say nothing, since they may have got to Redis after
 * newer ones; and those among them that a healing did not replay, since when nobody may hold them.
 * Used under the {@link DurableTracker}'s lock.
 */
final class OvertakenRows {
  private final Set<RowVersion> rows = new HashSet<>();
  private final Map<RowVersion, Long> givenUpNanos = new HashMap<>();
  private long askedNanos;

  /** A version of a row, and the sequence of its WAL record. */
  record RowVersion(String key, long version, long sequence) {}

  boolean isEmpty() {
    return rows.isEmpty();
  }

  void add(String key, long version, long sequence) {
    rows.add(new RowVersion(key, version, sequence));
  }

  /** A row, and what it was before it was traded. */
  void add(String key, QueuedRow newest) {
    for (QueuedRow row = newest; row != null; row = row.before()) {
      add(key, row.version(), row.sequence());
    }
  }

  void addKeysTo(Set<String> keys) {
    rows.forEach(row -> keys.add(row.key));
  }

  /** Adds the newest versions of these rows, where they are newer. */
  void mergeInto(Map<String, Long> versions, Set<String> keys) {
    for (RowVersion row : rows) {
      if (keys.contains(row.key)) {
        versions.merge(row.key, row.version, Math::max);
      }
    }
  }

  /** The same of rows up to the versions given. */
  void mergeUpTo(Map<String, Long> upTo, Map<String, Long> versions) {
    for (RowVersion row : rows) {
      if (row.version <= upTo.getOrDefault(row.key, -1L)) {
        versions.merge(row.key, row.version, Math::max);
      }
    }
  }

  /** Hands over the WAL sequences of rows that are to be replayed. */
  void notGivenUp(LongConsumer sequences) {
    for (RowVersion row : rows) {
      if (!givenUpNanos.containsKey(row)) {
        sequences.accept(row.sequence);
      }
    }
  }

  /** The lowest version; {@link Long#MAX_VALUE} when there is no row. */
  long oldestVersion() {
    return rows.stream().mapToLong(RowVersion::version).min().orElse(Long.MAX_VALUE);
  }

  /** Hands over the WAL sequences of those that match. */
  void sequencesOf(Predicate<RowVersion> which, LongConsumer sequences) {
    for (RowVersion row : rows) {
      if (which.test(row)) {
        sequences.accept(row.sequence);
      }
    }
  }

  /** Rows that need not be waited for, up to these versions. */
  void removeUpTo(Map<String, Long> versions) {
    rows.removeIf(row -> row.version <= versions.getOrDefault(row.key, -1L));
  }

  /**
   * This version of a row is lost; an older one as well if all before it is, or if it was given up:
   * it is what the row was before a trade that was put back.
   */
  void removeLost(String key, long version, boolean alsoBefore) {
    rows.removeIf(
        row ->
            row.key.equals(key)
                && (row.version == version
                    || (row.version < version && (alsoBefore || givenUpNanos.containsKey(row)))));
  }

  /** Whether something of this share is waited for. */
  boolean hasAnyOf(Share share) {
    return !rows.isEmpty()
        && rows.stream()
            .anyMatch(
                row ->
                    row.version >= share.lowest()
                        && share.keys().contains(row.key)
                        && !isOfLaterTrade(row, share));
  }

  /** A trade that is not replayed replaced nothing. */
  private boolean isOfLaterTrade(RowVersion row, Share share) {
    return row.version > share.highest() && givenUpNanos.containsKey(row);
  }

  /** The records of these sequences are not replayed. */
  void giveUp(Set<Long> sequences) {
    long now = System.nanoTime();
    for (RowVersion row : rows) {
      if (sequences.contains(row.sequence)) {
        givenUpNanos.putIfAbsent(row, now);
      }
    }
  }

  /** Rows that were given up so long ago, with their versions. */
  SortedMap<String, Long> givenUp(long graceNanos) {
    SortedMap<String, Long> versions = new TreeMap<>();
    givenUpNanos.keySet().retainAll(rows);
    long since = System.nanoTime() - graceNanos;
    givenUpNanos.forEach(
        (row, sinceNanos) -> {
          if (sinceNanos - since <= 0) {
            versions.merge(row.key, row.version, Math::max);
          }
        });
    return versions;
  }

  /** The keys, every so often as long as there are any; else empty. */
  Set<String> keysEvery(long everyNanos) {
    if (rows.isEmpty() || System.nanoTime() - askedNanos < everyNanos) {
      return Set.of();
    }
    askedNanos = System.nanoTime();
    Set<String> keys = new HashSet<>();
    addKeysTo(keys);
    return keys;
  }
}
