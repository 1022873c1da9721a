package io.gameq.durability;

import io.gameq.change.ChangedRow;
import io.gameq.change.Commit;
import io.gameq.durability.DurableFutures.Share;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.LongConsumer;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * The rows of one session that Redis was given and that are not known to be in MySQL. Used under
 * the {@link DurableTracker}'s lock, whose methods say more.
 *
 * <pre>
 * queued      a notice of their version settles them
 * overtaken   no notice tells of them, since they may have got to Redis after newer ones: MySQL is
 *             asked; those that a healing did not replay are given up
 * </pre>
 */
final class UnflushedRows {
  private final Map<String, QueuedRow> queued = new HashMap<>();

  /** Rows that the last notices said wait on, in a version up to this one. */
  private final Map<String, Long> kept = new HashMap<>();

  /** What the queued rows take at most: counted anew when it may decide about room. */
  private long bytes;

  /**
   * Whether one of the rows may be of a move, or have been: where none is, what a row was before
   * need not be read, which no processor has in its caches any more.
   */
  private boolean hasMoves;

  private long durableVersion;
  private long highestVersion;
  private long newsNanos;

  private final Set<RowVersion> overtaken = new HashSet<>();
  private final Map<RowVersion, Long> givenUpNanos = new HashMap<>();
  private long askedNanos;

  /** Rows that were seen in neither Redis nor MySQL, and since when. */
  private final Map<String, Missing> missing = new HashMap<>();

  /** A version of a row, and the sequence of its WAL record. */
  private record RowVersion(String key, long version, long sequence) {}

  private record Missing(long version, long sinceNanos) {}

  /** Decides about a version of a row. */
  interface RowTest {
    boolean test(String key, long version);
  }

  /**
   * A version of a row that Redis was given.
   *
   * @param sequence of its WAL record
   * @param bytes of the row, key and image
   * @param isAdopted whether no journal mark tells of it
   * @param before of a row that a move changed what it was, in Redis as well by then: it counts
   *     again when the move is not replayed
   * @param isSpanning whether its commit was one of several sessions: a move, or rows that were
   *     sent together with it
   */
  record QueuedRow(
      long version,
      long sequence,
      int bytes,
      boolean isAdopted,
      @Nullable QueuedRow before,
      boolean isSpanning) {
    /** A row that is moved over and over while MySQL is away must not take more and more room. */
    private static final int MOST_MOVES = 16;

    /**
     * The same after another version, which is kept where this is a move, or that was one: whether
     * a move's other half is replayed depends on this row.
     */
    QueuedRow after(QueuedRow old) {
      QueuedRow last = isSpanning || old.isSpanning ? old : old.before;
      if (last == null) {
        return this;
      }
      int moves = 0;
      for (QueuedRow row = last.before; row != null; row = row.before) {
        moves++;
      }
      return of(moves < MOST_MOVES ? last : last.of(null));
    }

    private QueuedRow of(@Nullable QueuedRow itsBefore) {
      return new QueuedRow(version, sequence, bytes, isAdopted, itsBefore, isSpanning);
    }
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
        overtaken.add(new RowVersion(row.key(), commit.version(), commit.sequence()));
      } else {
        queue(row, commit);
      }
    }
    highestVersion = Math.max(highestVersion, commit.version());
    return keys;
  }

  /** Later than all before, as commits arrive in order. */
  private void queue(ChangedRow row, Commit commit) {
    if (commit.version() <= durableVersion) {
      return;
    }
    hasMoves = commit.isSpanning() || (hasMoves && !queued.isEmpty());
    QueuedRow now =
        new QueuedRow(
            commit.version(), commit.sequence(), row.bytes(), false, null, commit.isSpanning());
    bytes += now.bytes;
    QueuedRow old = queued.put(row.key(), now);
    if (old != null && hasMoves) {
      queued.put(row.key(), now.after(old));
    }
  }

  /**
   * Rows that the session adopted; the newer version of each counts.
   *
   * @param isClaimed whether a writer is flushing them
   * @param flushing the highest version that a writer is flushing: its notice is not about dirty
   *     rows up to there
   */
  void adopted(String key, QueuedRow row, boolean isClaimed, long flushing) {
    if (!isClaimed && row.version <= flushing) {
      overtaken.add(new RowVersion(key, row.version, row.sequence));
    } else {
      queued.merge(key, row, (old, now) -> now.version > old.version ? now : old);
      bytes += row.bytes;
      highestVersion = Math.max(highestVersion, row.version);
    }
    newsNanos = System.nanoTime();
  }

  // --- what a healing replays

  /** See {@link DurableTracker#beyond}. */
  void beyond(long mark, LongConsumer sequences) {
    for (QueuedRow newest : queued.values()) {
      for (QueuedRow row = newest; row != null; row = row.before) {
        if (row.isAdopted || row.sequence > mark) {
          sequences.accept(row.sequence);
        }
      }
    }
    for (RowVersion row : overtaken) {
      if (!givenUpNanos.containsKey(row)) {
        sequences.accept(row.sequence);
      }
    }
  }

  /** Hands over the WAL sequences of rows that match. */
  void sequencesOf(RowTest which, LongConsumer sequences) {
    queued.forEach(
        (key, newest) -> {
          for (QueuedRow row = newest; row != null; row = row.before) {
            if (which.test(key, row.version)) {
              sequences.accept(row.sequence);
            }
          }
        });
    for (RowVersion row : overtaken) {
      if (which.test(row.key, row.version)) {
        sequences.accept(row.sequence);
      }
    }
  }

  void doubt() {
    overtake(row -> true);
    kept.clear();
  }

  void doubt(long sequence, Collection<String> rows) {
    for (String key : rows) {
      QueuedRow row = queued.get(key);
      if (row != null && row.sequence == sequence) {
        queued.remove(key);
        overtake(key, row);
      }
    }
  }

  /** No notice tells of queued rows that match any more. */
  private void overtake(Predicate<QueuedRow> which) {
    for (Iterator<Map.Entry<String, QueuedRow>> it = queued.entrySet().iterator(); it.hasNext(); ) {
      Map.Entry<String, QueuedRow> row = it.next();
      if (which.test(row.getValue())) {
        overtake(row.getKey(), row.getValue());
        it.remove();
      }
    }
  }

  /** Also of what the row was before it was moved. */
  private void overtake(String key, QueuedRow newest) {
    for (QueuedRow row = newest; row != null; row = row.before) {
      overtaken.add(new RowVersion(key, row.version, row.sequence));
    }
  }

  void gaveUp(Set<Long> sequences) {
    overtake(row -> sequences.contains(row.sequence));
    long now = System.nanoTime();
    for (RowVersion row : overtaken) {
      if (sequences.contains(row.sequence)) {
        givenUpNanos.putIfAbsent(row, now);
      }
    }
  }

  SortedMap<String, Long> givenUp(long graceNanos) {
    SortedMap<String, Long> versions = new TreeMap<>();
    givenUpNanos.keySet().retainAll(overtaken);
    long since = System.nanoTime() - graceNanos;
    givenUpNanos.forEach(
        (row, sinceNanos) -> {
          if (sinceNanos - since <= 0) {
            versions.merge(row.key, row.version, Math::max);
          }
        });
    return versions;
  }

  // --- what settles rows

  /** A notice: everything up to this version is in MySQL, but for rows that wait on. */
  void flushed(long version, Map<String, Long> waitOn) {
    kept.values().removeIf(v -> v <= version); // flushed, or named again
    kept.putAll(waitOn);
    durableUpTo(version);
    newsNanos = System.nanoTime();
  }

  private void durableUpTo(long version) {
    durableVersion = Math.max(durableVersion, version);
    queued
        .entrySet()
        .removeIf(
            row -> row.getValue().version <= durableVersion && !kept.containsKey(row.getKey()));
  }

  void found(Map<String, Long> there, Map<String, Long> refused) {
    Map<String, Long> settled = new HashMap<>(there);
    refused.forEach((key, version) -> settled.merge(key, version, Math::max));
    removeUpTo(settled);
    kept.entrySet().removeIf(row -> row.getValue() <= settled.getOrDefault(row.getKey(), -1L));
    settleIfEmpty();
  }

  /** Rows that need not be waited for, up to these versions. */
  void removeUpTo(Map<String, Long> versions) {
    versions.forEach(this::removeQueued);
    overtaken.removeIf(row -> row.version <= versions.getOrDefault(row.key, -1L));
  }

  private void removeQueued(String key, long upTo) {
    queued.computeIfPresent(key, (k, row) -> row.version <= upTo ? null : row);
  }

  /**
   * These rows are lost; of overtaken ones an older version as well if it was given up: it is what
   * the row was before a move that was put back.
   *
   * @param alsoBefore whether all older versions of them are, too
   */
  void removeLost(Map<String, Long> rows, boolean alsoBefore) {
    rows.forEach(
        (key, version) -> {
          removeQueued(key, version);
          overtaken.removeIf(
              row ->
                  row.key.equals(key)
                      && (row.version == version
                          || (row.version < version
                              && (alsoBefore || givenUpNanos.containsKey(row)))));
          kept.remove(key);
          missing.remove(key);
        });
  }

  /** When no row waits for a notice any more, everything that Redis was given is in MySQL. */
  void settleIfEmpty() {
    if (queued.isEmpty()) {
      durableUpTo(highestVersion);
      newsNanos = System.nanoTime();
    }
  }

  // --- what is asked

  /** How many rows wait for a notice. */
  int queuedRows() {
    return queued.size();
  }

  boolean isQueued(String key) {
    return queued.containsKey(key);
  }

  long bytesAtMost() {
    return bytes;
  }

  /** The bytes of each row; from now on {@link #bytesAtMost} is their sum. */
  Map<String, Integer> countBytes() {
    Map<String, Integer> byKey = new HashMap<>();
    queued.forEach((key, row) -> byKey.put(key, row.bytes));
    bytes = byKey.values().stream().mapToLong(Integer::longValue).sum();
    return byKey;
  }

  /** Everything up to here is in MySQL, but for rows that are kept. */
  long durableVersion() {
    return durableVersion;
  }

  /** The lowest version of these rows; {@link Long#MAX_VALUE} when there is none. */
  long oldestVersion() {
    long oldest = Long.MAX_VALUE;
    for (QueuedRow row : queued.values()) {
      oldest = Math.min(oldest, row.version);
    }
    for (RowVersion row : overtaken) {
      oldest = Math.min(oldest, row.version);
    }
    return oldest;
  }

  boolean isDurable(Share share) {
    return share.version() <= durableVersion
        && (kept.isEmpty() || share.keys().stream().noneMatch(kept::containsKey))
        && (overtaken.isEmpty()
            || overtaken.stream()
                .noneMatch(
                    row ->
                        row.version >= share.version()
                            && share.keys().contains(row.key)
                            && !isOfLaterMove(row, share)));
  }

  /** A move that is not replayed replaced nothing. */
  private boolean isOfLaterMove(RowVersion row, Share share) {
    return row.version > share.version() && givenUpNanos.containsKey(row);
  }

  void addKeysTo(Set<String> keys) {
    keys.addAll(queued.keySet());
    overtaken.forEach(row -> keys.add(row.key));
  }

  Set<String> withoutNews(long quietNanos) {
    Set<String> keys = new HashSet<>();
    if (!isEmpty() && System.nanoTime() - newsNanos >= quietNanos) {
      addKeysTo(keys);
    }
    return keys;
  }

  Set<String> overtakenRows(long everyNanos) {
    Set<String> keys = new HashSet<>();
    if (!overtaken.isEmpty() && System.nanoTime() - askedNanos >= everyNanos) {
      askedNanos = System.nanoTime();
      overtaken.forEach(row -> keys.add(row.key));
    }
    return keys;
  }

  SortedMap<String, Long> upTo(Map<String, Long> rows) {
    SortedMap<String, Long> waiting = new TreeMap<>();
    rows.forEach(
        (key, version) -> {
          QueuedRow row = queued.get(key);
          if (row != null && row.version <= version) {
            waiting.put(key, row.version);
          }
        });
    for (RowVersion row : overtaken) {
      if (row.version <= rows.getOrDefault(row.key, -1L)) {
        waiting.merge(row.key, row.version, Math::max);
      }
    }
    return waiting;
  }

  SortedMap<String, Long> missing(Set<String> rows, Map<String, Long> inRedis, long graceNanos) {
    Map<String, Long> wanted = new HashMap<>();
    for (String key : rows) {
      QueuedRow row = queued.get(key);
      if (row != null) {
        wanted.put(key, row.version);
      }
    }
    for (RowVersion row : overtaken) {
      if (rows.contains(row.key)) {
        wanted.merge(row.key, row.version, Math::max);
      }
    }
    wanted.entrySet().removeIf(row -> row.getValue() <= inRedis.getOrDefault(row.getKey(), -1L));
    long now = System.nanoTime();
    missing
        .entrySet()
        .removeIf(row -> !Objects.equals(wanted.get(row.getKey()), row.getValue().version));
    wanted.forEach((key, version) -> missing.putIfAbsent(key, new Missing(version, now)));
    SortedMap<String, Long> overdue = new TreeMap<>();
    missing.forEach(
        (key, seen) -> {
          if (now - seen.sinceNanos >= graceNanos) {
            overdue.put(key, seen.version);
          }
        });
    return overdue;
  }
}
