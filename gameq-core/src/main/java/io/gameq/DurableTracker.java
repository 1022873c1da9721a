package io.gameq;

import io.gameq.commit.ChangedRow;
import io.gameq.commit.Commit;
import io.gameq.commit.CommitPart;
import io.gameq.commit.SessionRef;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;

/**
 * What of one session is not in MySQL yet. Thread-safe. Holds row keys, not rows: it grows with the
 * distinct rows that wait, and with the futures that were asked for.
 */
final class DurableTracker {
  /** Rows set aside that are remembered for futures that are asked for later. */
  private static final int MOST_SET_ASIDE = 1_000;

  private final SessionRef session;
  private final Set<Commit> inTransit = new LinkedHashSet<>();
  private final Map<String, Integer> transitRows = new HashMap<>();
  private final Map<String, Long> queuedRows = new HashMap<>();
  private final Map<String, Long> setAside = new LinkedHashMap<>();
  private final List<Waiter> waiters = new ArrayList<>();
  private long durableVersion;
  private long oldestQueuedNanos;

  private record Waiter(Versions versions, CompletableFuture<Void> durable) {}

  /** The versions that a commit gave to rows of this session: two when rows move, else one. */
  record Versions(long lowest, long highest) {
    boolean include(long version) {
      return version >= lowest && version <= highest;
    }
  }

  DurableTracker(SessionRef session) {
    this.session = session;
  }

  SessionRef session() {
    return session;
  }

  /**
   * Whether the owner has room for these rows beside those that wait for MySQL; waits for it until
   * the deadline.
   *
   * @param most distinct rows that may wait
   */
  synchronized boolean awaitRoom(Collection<ChangedRow> rows, int most, long deadlineNanos)
      throws InterruptedException {
    for (long left; dirtyWith(rows) > most; wait(millis(left))) {
      left = deadlineNanos - System.nanoTime();
      if (left <= 0) {
        return false;
      }
    }
    return true;
  }

  /** Rows in Redis and on their way count twice, so this never counts too few. */
  private int dirtyWith(Collection<ChangedRow> rows) {
    int dirty = queuedRows.size() + transitRows.size();
    for (ChangedRow row : rows) {
      dirty += queuedRows.containsKey(row.key()) || transitRows.containsKey(row.key()) ? 0 : 1;
    }
    return dirty;
  }

  synchronized void submitted(Commit commit) {
    inTransit.add(commit);
    rowsOf(commit).forEach(row -> transitRows.merge(row.key(), 1, Integer::sum));
  }

  synchronized void failed(Commit commit) {
    arrived(commit);
    notifyAll();
  }

  private void arrived(Commit commit) {
    if (inTransit.remove(commit)) {
      rowsOf(commit)
          .forEach(row -> transitRows.computeIfPresent(row.key(), (k, n) -> n > 1 ? n - 1 : null));
    }
  }

  private List<ChangedRow> rowsOf(Commit commit) {
    for (CommitPart part : commit.parts()) {
      if (part.session() == session) {
        return part.rows();
      }
    }
    return List.of();
  }

  /** A row that the session took over unflushed; it is waited for like the session's own. */
  synchronized void adopted(String key, long version) {
    queuedRows.merge(key, version, Math::max);
    oldestQueuedNanos = System.nanoTime();
  }

  /** Redis holds the commit; returns the versions of this session's rows in it. */
  synchronized Versions queued(Commit commit) {
    arrived(commit);
    if (queuedRows.isEmpty()) {
      oldestQueuedNanos = System.nanoTime();
    }
    long lowest = commit.version();
    long highest = 0;
    if (commit.isSentAgain()) { // later commits may have overtaken it
      durableVersion = Math.min(durableVersion, commit.version() - 2);
    }
    for (ChangedRow row : rowsOf(commit)) {
      lowest = Math.min(lowest, row.version());
      highest = Math.max(highest, row.version());
      if (row.version() > durableVersion) {
        queuedRows.merge(row.key(), row.version(), Math::max);
      }
    }
    notifyAll();
    return new Versions(lowest, highest);
  }

  /**
   * Everything of this session up to this version is in MySQL, but for rows that were set aside.
   *
   * @param refused those rows, with the versions in which they were refused
   */
  void durable(long version, Map<String, Long> refused) {
    List<Waiter> done = new ArrayList<>();
    synchronized (this) {
      durableVersion = Math.max(durableVersion, version);
      setAside.putAll(refused);
      for (Iterator<String> it = setAside.keySet().iterator(); setAside.size() > MOST_SET_ASIDE; ) {
        it.next();
        it.remove();
      }
      queuedRows.values().removeIf(v -> v <= durableVersion);
      refused.forEach((key, v) -> queuedRows.computeIfPresent(key, (k, q) -> q <= v ? null : q));
      oldestQueuedNanos = System.nanoTime();
      for (Iterator<Waiter> it = waiters.iterator(); it.hasNext(); ) {
        Waiter waiter = it.next();
        if (waiter.versions.highest <= durableVersion || !refusedOf(waiter.versions).isEmpty()) {
          done.add(waiter);
          it.remove();
        }
      }
      notifyAll();
    }
    done.forEach(this::complete);
  }

  private void complete(Waiter waiter) {
    List<String> refused = refusedOf(waiter.versions);
    if (refused.isEmpty()) {
      waiter.durable.complete(null);
    } else {
      waiter.durable.completeExceptionally(new DeadLetterException(refused));
    }
  }

  private synchronized List<String> refusedOf(Versions versions) {
    return setAside.isEmpty()
        ? List.of()
        : setAside.entrySet().stream()
            .filter(row -> versions.include(row.getValue()))
            .map(Map.Entry::getKey)
            .toList();
  }

  /** A future that completes when everything up to these versions, queued, is in MySQL. */
  CompletableFuture<Void> whenDurable(Versions versions) {
    Waiter waiter = new Waiter(versions, new CompletableFuture<>());
    synchronized (this) {
      if (versions.highest > durableVersion && refusedOf(versions).isEmpty()) {
        waiters.add(waiter);
        return waiter.durable;
      }
    }
    complete(waiter);
    return waiter.durable;
  }

  synchronized boolean isDrained() {
    return inTransit.isEmpty() && queuedRows.isEmpty();
  }

  /** Waits until nothing is in transit; false when the time was up. */
  synchronized boolean awaitQueued(long deadlineNanos) throws InterruptedException {
    for (long left; !inTransit.isEmpty(); wait(millis(left))) {
      left = deadlineNanos - System.nanoTime();
      if (left <= 0) {
        return false;
      }
    }
    return true;
  }

  /** Waits until everything committed so far is in MySQL; false when the time was up. */
  synchronized boolean awaitDurable(long deadlineNanos) throws InterruptedException {
    for (long left; !isDrained(); wait(millis(left))) {
      left = deadlineNanos - System.nanoTime();
      if (left <= 0) {
        return false;
      }
    }
    return true;
  }

  private static long millis(long nanos) {
    return nanos / 1_000_000 + 1;
  }

  /** Row keys ({@code table:key}) not known to be in MySQL, sorted. */
  synchronized Set<String> notDurable() {
    Set<String> keys = new TreeSet<>(queuedRows.keySet());
    keys.addAll(transitRows.keySet());
    return keys;
  }

  /**
   * Rows queued, with their versions, when no news came of them for {@code quietNanos}; else empty.
   */
  synchronized Map<String, Long> withoutNews(long quietNanos) {
    return queuedRows.isEmpty() || System.nanoTime() - oldestQueuedNanos < quietNanos
        ? Map.of()
        : Map.copyOf(queuedRows);
  }
}
