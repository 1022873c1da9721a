package io.gameq.node;

import io.gameq.GameQueueConfig;
import io.gameq.GameQueueException;
import io.gameq.commit.CommitSender;
import io.gameq.durability.Callbacks;
import io.gameq.durability.DurableTracker;
import io.gameq.durability.NodeSessions;
import io.gameq.log.RepeatedWarnings;
import io.gameq.mysql.tables.OwnerTable;
import io.gameq.owner.OwnerId;
import io.gameq.redis.ControlConnection;
import io.gameq.redis.DurableNotices;
import io.gameq.redis.EvictionWatch;
import io.gameq.redis.PrimaryConnector;
import io.gameq.redis.RedisClock;
import io.gameq.redis.SlotKeys;
import io.gameq.view.OwnerViews;
import io.gameq.wal.WalWriter;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
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

  private static final long COMPLAIN_EVERY_SECONDS = 60;

  private static final long RETAIN_EVERY_NANOS = TimeUnit.SECONDS.toNanos(10);

  private final Parts parts;
  private final long quietNanos;
  private final Deque<DurableTracker> toLookFor = new ArrayDeque<>();
  private long clockMeasuredNanos = System.nanoTime();
  private long retainedNanos = System.nanoTime();
  private final MissingRows missing;
  private final EvictionWatch eviction = new EvictionWatch();
  private final RepeatedWarnings complaints = new RepeatedWarnings(COMPLAIN_EVERY_SECONDS);

  /** What a lookout looks at, and with. */
  record Parts(
      GameQueueConfig config,
      NodeSessions sessions,
      SlotKeys[] slots,
      ControlConnection control,
      PrimaryConnector primary,
      RedisClock clock,
      DurableNotices notices,
      OwnerTable owners,
      OwnerViews views,
      CommitSender sender,
      WalWriter wal,
      Callbacks callbacks,
      Healed healed,
      ClosedSessionNotices closed) {}

  /** What the sender's thread tells the lookout after it has healed. Thread-safe. */
  static final class Healed {
    private volatile boolean signalled;

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
    missing = new MissingRows(parts);
    quietNanos = parts.config().mergeWindow().toNanos() + TimeUnit.SECONDS.toNanos(3);
  }

  /** Whether rows were reported as lost: then the WAL is the only place that has them. */
  boolean hadConflicts() {
    return missing.hadConflicts();
  }

  @Override
  public void run() {
    try {
      followTerm();
      if (parts.healed().take()) {
        afterHealing();
      }
      parts.closed().tell();
      boolean unused = eviction.mayEvict(parts.control());
      parts.notices().keepSubscribed();
      parts.views().lookForMissingTables();
      if (System.nanoTime() - clockMeasuredNanos > MEASURE_CLOCK_EVERY_NANOS) {
        parts.clock().measure(parts.control());
        clockMeasuredNanos = System.nanoTime();
      }
      lookForOvertaken();
      lookForSome();
      parts.sessions().all().forEach(missing::lookForGivenUp);
      parts.sessions().forgetDrained(parts.sender()::unregister);
      if (System.nanoTime() - retainedNanos > RETAIN_EVERY_NANOS) {
        retainedNanos = System.nanoTime(); // first: a full disk is not asked every second
        retain();
      }
    } catch (GameQueueException e) {
      complaints.about(
          "durable", LOG::warn, () -> "cannot look what is durable: " + e.getMessage());
    } catch (RuntimeException | Error e) { // must not end the looks
      LOG.warn("cannot look what is durable", e);
    }
  }

  /** A node leaves a primary that was demoted within a second or so, whatever it still answers. */
  private void followTerm() {
    try {
      parts.sender().followTerm();
      parts.sender().takeAlong(parts.control());
      parts.primary().giveSign(parts.control());
    } catch (GameQueueException e) {
      complaints.about(
          "term", LOG::warn, () -> "cannot look which Redis primary counts: " + e.getMessage());
    }
  }

  /**
   * After a failover the old server may still hold a subscription, and nobody publishes there; and
   * sessions that were re-asserted are to end again.
   */
  private void afterHealing() {
    parts.notices().close();
    parts.closed().tellAgain();
    parts
        .sessions()
        .closed()
        .forEach(tracker -> parts.closed().add(tracker.session(), tracker::isQueued));
  }

  /** Lets the WAL go of what is in MySQL. */
  private void retain() {
    if (parts.sender().hasDied()) {
      return; // what nobody will answer is left to recovery
    }
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
      Map<OwnerId, Map<String, Long>> setAside = parts.views().setAside(rows);
      asked.forEach(
          (tracker, of) -> tracker.found(only(of, there), only(of, its(setAside, tracker))));
    }
  }

  private static Map<String, Long> its(
      Map<OwnerId, Map<String, Long>> setAside, DurableTracker tracker) {
    return setAside.getOrDefault(tracker.session().owner(), Map.of());
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
      // No notice of a lost session will come that could be waited for.
      Set<String> rows = tracker.withoutNews(tracker.session().isLost() ? 0 : quietNanos);
      if (!rows.isEmpty()) {
        asked++;
        missing.lookFor(tracker, rows);
      }
    }
  }
}
