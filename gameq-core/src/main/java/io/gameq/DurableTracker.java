package io.gameq;

import io.gameq.commit.ChangedRow;
import io.gameq.commit.Commit;
import io.gameq.commit.CommitPart;
import io.gameq.commit.SessionRef;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
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
  private final SessionRef session;
  private final Set<Commit> inTransit = new LinkedHashSet<>();
  private final Map<String, Long> queuedRows = new HashMap<>();
  private final List<Waiter> waiters = new ArrayList<>();
  private long durableVersion;
  private long oldestQueuedNanos;

  private record Waiter(long version, CompletableFuture<Void> durable) {}

  DurableTracker(SessionRef session) {
    this.session = session;
  }

  SessionRef session() {
    return session;
  }

  synchronized void submitted(Commit commit) {
    inTransit.add(commit);
  }

  synchronized void failed(Commit commit) {
    inTransit.remove(commit);
    notifyAll();
  }

  /** A row that the session took over unflushed; it is waited for like the session's own. */
  synchronized void adopted(String key, long version) {
    queuedRows.merge(key, version, Math::max);
    oldestQueuedNanos = System.nanoTime();
  }

  /** Redis holds the commit; returns the highest version of this session's rows in it. */
  synchronized long queued(Commit commit) {
    inTransit.remove(commit);
    if (queuedRows.isEmpty()) {
      oldestQueuedNanos = System.nanoTime();
    }
    long highest = 0;
    if (commit.isSentAgain()) { // later commits may have overtaken it
      durableVersion = Math.min(durableVersion, commit.version() - 2);
    }
    for (CommitPart part : commit.parts()) {
      if (part.session() == session) {
        for (ChangedRow row : part.rows()) {
          highest = Math.max(highest, row.version());
          if (row.version() > durableVersion) {
            queuedRows.merge(row.key(), row.version(), Math::max);
          }
        }
      }
    }
    notifyAll();
    return highest;
  }

  /** Everything of this session up to this version is in MySQL. */
  void durable(long version) {
    List<Waiter> done = new ArrayList<>();
    synchronized (this) {
      durableVersion = Math.max(durableVersion, version);
      queuedRows.values().removeIf(v -> v <= durableVersion);
      oldestQueuedNanos = System.nanoTime();
      for (Iterator<Waiter> it = waiters.iterator(); it.hasNext(); ) {
        Waiter waiter = it.next();
        if (waiter.version <= durableVersion) {
          done.add(waiter);
          it.remove();
        }
      }
      notifyAll();
    }
    done.forEach(waiter -> waiter.durable.complete(null));
  }

  /** A future that completes when everything up to this version, which is queued, is in MySQL. */
  synchronized CompletableFuture<Void> whenDurable(long version) {
    CompletableFuture<Void> durable = new CompletableFuture<>();
    if (version <= durableVersion) {
      durable.complete(null);
    } else {
      waiters.add(new Waiter(version, durable));
    }
    return durable;
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
    for (Commit commit : inTransit) {
      for (CommitPart part : commit.parts()) {
        if (part.session() == session) {
          part.rows().forEach(row -> keys.add(row.key()));
        }
      }
    }
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
