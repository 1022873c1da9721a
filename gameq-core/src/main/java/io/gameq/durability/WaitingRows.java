package io.gameq.durability;

import io.gameq.change.ChangedRow;
import io.gameq.change.Commit;
import io.gameq.durability.DurableTracker.DurableFutures.Share;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.LongConsumer;
import java.util.function.Predicate;

/**
 * The rows of one session that Redis was given and that wait for MySQL, whatever tells of them: a
 * notice, or a look. Used under the {@link DurableTracker}'s lock, whose methods say more.
 */
final class WaitingRows {
  private final QueuedRows queued = new QueuedRows();
  private final OvertakenRows overtaken = new OvertakenRows();
  private final UnheldRows unheld = new UnheldRows();
  private long newsNanos;

  /** Decides about a version of a row. */
  interface RowTest {
    boolean test(String key, long version);
  }

  /** Those of which notices tell. */
  QueuedRows queued() {
    return queued;
  }

  boolean isEmpty() {
    return queued.isEmpty() && overtaken.isEmpty();
  }

  // --- what comes

  /** Redis holds a commit, which changed these rows of the session; returns their keys. */
  List<String> add(Commit commit, List<ChangedRow> rows) {
    if (isEmpty()) {
      newsNanos = System.nanoTime();
    }
    List<String> keys = new ArrayList<>(rows.size());
    for (ChangedRow row : rows) {
      keys.add(row.key());
      if (commit.isSentAgain()) {
        overtaken.add(row.key(), commit.version(), commit.sequence());
      } else {
        queued.put(row, commit);
      }
    }
    queued.reachedRedis(commit.version());
    return keys;
  }

  void adopted(Map<String, QueuedRow> dirty, Map<String, QueuedRow> claimed) {
    long flushing = claimed.values().stream().mapToLong(QueuedRow::version).max().orElse(0);
    claimed.forEach(queued::add);
    dirty.forEach(
        (key, row) -> {
          if (row.version() <= flushing) { // the notice of what is being flushed is not about it
            overtaken.add(key, row.version(), row.sequence());
          } else {
            queued.add(key, row);
          }
        });
    newsNanos = System.nanoTime();
  }

  // --- what a healing replays

  void beyond(long mark, LongConsumer sequences) {
    queued.beyond(mark, sequences);
    overtaken.notGivenUp(sequences);
  }

  /** Hands over the WAL sequences of rows that match. */
  void sequencesOf(RowTest which, LongConsumer sequences) {
    queued.forEach(
        (key, newest) -> {
          for (QueuedRow row = newest; row != null; row = row.before()) {
            if (which.test(key, row.version())) {
              sequences.accept(row.sequence());
            }
          }
        });
    overtaken.sequencesOf(row -> which.test(row.key(), row.version()), sequences);
  }

  void doubt() {
    queued.takeOut(row -> true, overtaken::add);
    queued.forgetKept();
  }

  void doubt(long sequence, Collection<String> rows) {
    queued.takeOut(rows, row -> row.sequence() == sequence, overtaken::add);
  }

  void gaveUp(Set<Long> sequences) {
    queued.takeOut(row -> sequences.contains(row.sequence()), overtaken::add);
    overtaken.giveUp(sequences);
  }

  SortedMap<String, Long> givenUp(long graceNanos) {
    return overtaken.givenUp(graceNanos);
  }

  // --- what settles rows

  void flushed(long version, Map<String, Long> kept) {
    queued.flushed(version, kept);
    newsNanos = System.nanoTime();
  }

  void found(Map<String, Long> there, Map<String, Long> refused) {
    Map<String, Long> settled = new HashMap<>(there);
    refused.forEach((key, version) -> settled.merge(key, version, Math::max));
    removeUpTo(settled);
    queued.forgetKeptUpTo(settled);
    settleIfEmpty();
  }

  /** Rows that need not be waited for, up to these versions. */
  void removeUpTo(Map<String, Long> versions) {
    queued.removeUpTo(versions);
    overtaken.removeUpTo(versions);
  }

  /**
   * These rows are lost.
   *
   * @param alsoBefore whether all older versions of them are, too
   */
  void removeLost(Map<String, Long> rows, boolean alsoBefore) {
    rows.forEach(
        (key, version) -> {
          queued.removeUpTo(key, version);
          overtaken.removeLost(key, version, alsoBefore);
          queued.forgetKept(key);
          unheld.forget(key);
        });
  }

  /** When no row waits for a notice any more, everything that notices tell of is in MySQL. */
  void settleIfEmpty() {
    if (queued.flushedIfEmpty()) {
      newsNanos = System.nanoTime();
    }
  }

  // --- what is asked

  long durableVersion() {
    return queued.durableVersion();
  }

  /** The lowest version of these rows; {@link Long#MAX_VALUE} when there is none. */
  long oldestVersion() {
    return Math.min(queued.oldestVersion(), overtaken.oldestVersion());
  }

  boolean isDurable(Share share) {
    return share.highest() <= queued.durableVersion()
        && (queued.keepsNone() || share.keys().stream().noneMatch(queued::isKept))
        && !overtaken.hasAnyOf(share);
  }

  void addKeysTo(Set<String> keys) {
    keys.addAll(queued.keys());
    overtaken.addKeysTo(keys);
  }

  Set<String> withoutNews(long quietNanos) {
    if (isEmpty() || System.nanoTime() - newsNanos < quietNanos) {
      return Set.of();
    }
    Set<String> keys = new HashSet<>();
    addKeysTo(keys);
    return keys;
  }

  Set<String> overtakenRows(long everyNanos) {
    return overtaken.keysEvery(everyNanos);
  }

  SortedMap<String, Long> upTo(Map<String, Long> rows) {
    SortedMap<String, Long> waiting = new TreeMap<>();
    rows.forEach(
        (key, version) -> {
          QueuedRow row = queued.get(key);
          if (row != null && row.version() <= version) {
            waiting.put(key, row.version());
          }
        });
    overtaken.mergeUpTo(rows, waiting);
    return waiting;
  }

  SortedMap<String, Long> missing(Set<String> rows, Map<String, Long> inRedis, long graceNanos) {
    Map<String, Long> wanted = new HashMap<>();
    for (String key : rows) {
      QueuedRow row = queued.get(key);
      if (row != null) {
        wanted.put(key, row.version());
      }
    }
    overtaken.mergeInto(wanted, rows);
    wanted.entrySet().removeIf(row -> row.getValue() <= inRedis.getOrDefault(row.getKey(), -1L));
    return unheld.after(wanted, graceNanos);
  }

  /**
   * Since when each row of one session was seen to be in neither Redis nor MySQL. Used under the
   * {@link DurableTracker}'s lock.
   */
  static final class UnheldRows {
    private final Map<String, Seen> rows = new HashMap<>();

    private record Seen(long version, long sinceNanos) {}

    /** Takes what a look showed; returns the rows that were unheld in every look for so long. */
    SortedMap<String, Long> after(Map<String, Long> unheld, long graceNanos) {
      long now = System.nanoTime();
      rows.entrySet()
          .removeIf(row -> !Objects.equals(unheld.get(row.getKey()), row.getValue().version));
      unheld.forEach((key, version) -> rows.putIfAbsent(key, new Seen(version, now)));
      SortedMap<String, Long> missing = new TreeMap<>();
      rows.forEach(
          (key, seen) -> {
            if (now - seen.sinceNanos >= graceNanos) {
              missing.put(key, seen.version);
            }
          });
      return missing;
    }

    void forget(String key) {
      rows.remove(key);
    }
  }

  /**
   * The rows of one session of which notices say nothing, since they may have got to Redis after
   * newer ones; and those among them that a healing did not replay, since when nobody may hold
   * them. Used under the {@link DurableTracker}'s lock.
   */
  static final class OvertakenRows {
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
     * This version of a row is lost; an older one as well if all before it is, or if it was given
     * up: it is what the row was before a trade that was put back.
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
}
