package io.gameq.durability;

import io.gameq.change.ChangedRow;
import io.gameq.change.Commit;
import io.gameq.durability.DurableFutures.Share;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.LongConsumer;

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
}
