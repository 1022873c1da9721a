package io.gameq;

import io.gameq.catalog.RowCodec;
import io.gameq.commit.CountingSessions;
import io.gameq.commit.SessionRef;
import io.gameq.mysql.OwnerTable;
import io.gameq.redis.CommitSender;
import io.gameq.redis.ControlConnection;
import io.gameq.redis.DurableNotices;
import io.gameq.redis.NodeHeartbeat;
import io.gameq.redis.PrimaryConnector;
import io.gameq.redis.RedisClock;
import io.gameq.redis.SessionScripts;
import io.gameq.redis.SlotKeys;
import io.gameq.wal.WalWriter;
import java.util.ArrayDeque;
import java.util.Collections;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.SortedMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Looks, once a second, for what nobody told this node: rows that are in MySQL though the notice
 * was lost, rows that nobody holds any more, and WAL records that nothing needs. Runs on one
 * thread.
 */
final class Lookout implements Runnable {
  private static final Logger LOG = LoggerFactory.getLogger(Lookout.class);

  private static final int MOST_ASKED_PER_LOOK = 100;

  /** Enough for a healing of thousands of sessions to settle within seconds. */
  private static final int MOST_ROWS_ASKED = 5_000;

  private static final long MEASURE_CLOCK_EVERY_NANOS = TimeUnit.SECONDS.toNanos(60);

  /**
   * Rows that nobody holds are reported, or replayed, after so long only: another node that adopted
   * them may be about to put them back.
   */
  private static final long MISSING_GRACE_NANOS = TimeUnit.SECONDS.toNanos(10);

  private static final long RETAIN_EVERY_NANOS = TimeUnit.SECONDS.toNanos(10);
  private static final long HEAL_AGAIN_EVERY_NANOS = TimeUnit.SECONDS.toNanos(30);

  private final Parts parts;
  private final long quietNanos;
  private final Deque<DurableTracker> toLookFor = new ArrayDeque<>();
  private long clockMeasuredNanos = System.nanoTime();
  private long retainedNanos = System.nanoTime();
  private long healedAgainNanos = System.nanoTime() - HEAL_AGAIN_EVERY_NANOS;
  private volatile boolean hadConflicts;

  /** What a lookout looks at, and with. */
  record Parts(
      GameQueueConfig config,
      Sessions sessions,
      SlotKeys[] slots,
      ControlConnection control,
      PrimaryConnector primary,
      RedisClock clock,
      DurableNotices notices,
      NodeHeartbeat heartbeat,
      OwnerTable owners,
      OwnerViews views,
      CommitSender sender,
      WalWriter wal,
      Executor callbacks,
      Healed healed,
      Consumer<SessionRef> tellClosed) {}

  /** What the sender's thread tells the lookout after it has healed. Thread-safe. */
  static final class Healed {
    private final Queue<Set<Long>> notReplayed = new ConcurrentLinkedQueue<>();
    private volatile boolean signalled;

    /** WAL records that Redis lost and that are given up. */
    void notReplayed(Set<Long> sequences) {
      notReplayed.add(sequences);
    }

    void signal() {
      signalled = true;
    }

    private boolean take() {
      boolean was = signalled;
      signalled = false;
      return was;
    }
  }

  Lookout(Parts parts) {
    this.parts = parts;
    quietNanos = parts.config().mergeWindow().toNanos() + TimeUnit.SECONDS.toNanos(3);
  }

  /** Whether rows were reported as lost: then the WAL is the only place that has them. */
  boolean hadConflicts() {
    return hadConflicts;
  }

  @Override
  public void run() {
    try {
      beat();
      followTerm();
      if (parts.healed().take()) {
        afterHealing();
      }
      for (Set<Long> given; (given = parts.healed().notReplayed.poll()) != null; ) {
        reportNotReplayed(given);
      }
      parts.notices().keepSubscribed();
      if (System.nanoTime() - clockMeasuredNanos > MEASURE_CLOCK_EVERY_NANOS) {
        parts.clock().measure(parts.control());
        clockMeasuredNanos = System.nanoTime();
      }
      lookForOvertaken();
      lookForSome();
      parts.sessions().forgetDrained(parts.sender()::unregister);
      if (System.nanoTime() - retainedNanos > RETAIN_EVERY_NANOS) {
        retainedNanos = System.nanoTime(); // first: a full disk is not asked every second
        retain();
      }
    } catch (GameQueueException e) {
      LOG.debug("cannot look what is durable: {}", e.getMessage());
    } catch (RuntimeException e) {
      LOG.warn("cannot look what is durable", e);
    }
  }

  void beat() {
    try {
      if (parts.heartbeat().beat(parts.control())) {
        parts.sender().healAgain("its sign of life is gone from Redis");
      }
    } catch (GameQueueException e) {
      LOG.debug("cannot give a sign of life: {}", e.getMessage());
    }
  }

  /** Clients of a primary that was demoted go over within seconds, whatever it still answers. */
  private void followTerm() {
    try {
      parts.sender().followTerm();
      parts.sender().takeAlong(parts.control());
      parts.primary().giveSign(parts.control());
    } catch (GameQueueException e) {
      LOG.debug("cannot look which Redis primary counts: {}", e.getMessage());
    }
  }

  /**
   * After a failover the old server may still hold a subscription, and nobody publishes there; and
   * sessions that were re-asserted are to end again.
   */
  private void afterHealing() {
    parts.notices().close();
    parts.sessions().closed().forEach(tracker -> parts.tellClosed().accept(tracker.session()));
  }

  /** Lets the WAL go of what is in MySQL. */
  private void retain() {
    long from = parts.wal().newestFileFrom(); // whatever is older is known to its tracker by now
    parts.wal().retain(parts.sessions().needed(from));
  }

  /** Rows of which no notice will tell: MySQL is asked about those of many sessions at once. */
  private void lookForOvertaken() {
    Map<DurableTracker, Set<String>> asked = new HashMap<>();
    Set<String> rows = new HashSet<>();
    for (DurableTracker tracker : parts.sessions().all()) {
      if (rows.size() >= MOST_ROWS_ASKED) {
        break;
      }
      Set<String> overtaken = tracker.overtakenRows(quietNanos);
      if (!overtaken.isEmpty()) {
        asked.put(tracker, overtaken);
        rows.addAll(overtaken);
      }
    }
    if (!rows.isEmpty()) {
      Map<String, Long> there = parts.views().versions(rows);
      Map<String, Long> setAside = parts.views().setAside(rows);
      asked.forEach((tracker, of) -> tracker.found(only(of, there), only(of, setAside)));
    }
  }

  private static Map<String, Long> only(Set<String> keys, Map<String, Long> versions) {
    Map<String, Long> of = new HashMap<>(versions);
    of.keySet().retainAll(keys);
    return of;
  }

  /** However many sessions wait, Redis is asked about a few of them in each round. */
  private void lookForSome() {
    if (toLookFor.isEmpty()) {
      toLookFor.addAll(parts.sessions().all());
    }
    for (int asked = 0; asked < MOST_ASKED_PER_LOOK && !toLookFor.isEmpty(); ) {
      DurableTracker tracker = toLookFor.remove();
      Set<String> rows = tracker.withoutNews(quietNanos);
      if (!rows.isEmpty()) {
        asked++;
        lookFor(tracker, rows);
      }
    }
  }

  private void lookFor(DurableTracker tracker, Set<String> rows) {
    SessionRef session = tracker.session();
    SlotKeys slot = parts.slots()[session.slot()];
    ControlConnection control = parts.control();
    if (!SessionScripts.holdsNothing(control.get(), slot, session.owner(), session.id())) {
      return;
    }
    Map<String, Long> inRedis = new HashMap<>(); // read first: what is gone from it is in MySQL
    OwnerViews.withoutDamaged(SessionScripts.read(control.get(), slot, session.owner()))
        .forEach(row -> inRedis.merge(row.key(), RowCodec.version(row.image()), Math::max));
    tracker.found(parts.views().versions(rows), parts.views().setAside(rows));
    SortedMap<String, Long> missing = tracker.missing(rows, inRedis, MISSING_GRACE_NANOS);
    if (!missing.isEmpty()) {
      lost(tracker, missing);
    }
  }

  /** Nobody holds these rows: replays them where the session still owns, else reports them. */
  private void lost(DurableTracker tracker, SortedMap<String, Long> rows) {
    SessionRef session = tracker.session();
    CountingSessions durable =
        parts.owners().current(List.of(session.owner())).get(session.owner());
    SessionId newest = durable == null ? null : durable.newest();
    if (!session.isLost()
        && (session.id().isNewerThan(newest) || CountingSessions.counts(durable, session.id()))) {
      if (System.nanoTime() - healedAgainNanos >= HEAL_AGAIN_EVERY_NANOS) {
        healedAgainNanos = System.nanoTime();
        parts.sender().healAgain("rows of %s are in neither Redis nor MySQL".formatted(session));
      }
      return;
    }
    session.markLost();
    report(tracker, rows, "session " + newest + " owns now");
  }

  /** A half that another session owns by now is looked for like everything else of that session. */
  private void reportNotReplayed(Set<Long> sequences) {
    for (DurableTracker tracker : parts.sessions().all()) {
      SortedMap<String, Long> rows =
          tracker.session().isLost() ? Collections.emptySortedMap() : tracker.rowsOf(sequences);
      if (!rows.isEmpty()) {
        report(
            tracker, rows, "the other half of the commit is lost, or the WAL cannot give it back");
      }
    }
  }

  private void report(DurableTracker tracker, SortedMap<String, Long> rows, String reason) {
    hadConflicts = true;
    Conflict conflict = tracker.conflict(rows, reason);
    LOG.error(
        "conflict: Redis lost acknowledged changes of {} by session {}, and they are not replayed"
            + " ({}): {}; WAL {}",
        conflict.owner(),
        conflict.session(),
        reason,
        conflict.rows().keySet(),
        parts.wal().directory());
    tracker.lost(conflict);
    parts.callbacks().execute(() -> parts.config().onConflict().accept(conflict));
  }
}
