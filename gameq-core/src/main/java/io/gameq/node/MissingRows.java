package io.gameq.node;

import io.gameq.Conflict;
import io.gameq.durability.DurableTracker;
import io.gameq.owner.DurableSessions.CountingSessions;
import io.gameq.owner.OwnerId;
import io.gameq.owner.SessionId;
import io.gameq.owner.SessionRef;
import io.gameq.redis.script.LookupScript;
import io.gameq.redis.script.LookupScript.LookupResult;
import io.gameq.terminal.Shown;
import io.gameq.view.OwnerViews;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Looks for rows of which no notice came, and settles them: they are in MySQL, or wait in Redis, or
 * nobody holds them. Those are replayed where their session still owns, else reported; never before
 * whoever may hold them has put back what it has. Used by the upkeep's thread.
 *
 * <pre>
 * the session still owns          Redis lost them: the sender heals again
 * another is open in MySQL,
 *   owns in Redis and has put
 *   back all it had (lookup.lua)  nobody will bring them: reported, and lost
 * else                            its node may have adopted them: asked again, until
 *                                 maxConflictWait;
 *                                 then reported as rows that may come back
 * half a trade, or not in the
 *   WAL, of a session that owns   a healing did not replay them: reported
 * </pre>
 */
final class MissingRows {
  private static final Logger LOG = LoggerFactory.getLogger(MissingRows.class);

  private static final int MOST_ASKED_PER_ROUND = 100;

  /** Enough for a healing of thousands of sessions to settle within seconds. */
  private static final int MOST_ROWS_ASKED = 5_000;

  /** Beyond the merge window: a flush and its notice take no longer, as a rule. */
  private static final Duration FLUSH_TIME = Duration.ofSeconds(3);

  /** What nobody holds of a session that owns is replayed after so long. */
  private static final long REPLAY_GRACE_NANOS = TimeUnit.SECONDS.toNanos(10);

  /** A writer that claimed a row before Redis lost it begins its flush well within that. */
  private static final long CLAIM_GRACE_NANOS = TimeUnit.SECONDS.toNanos(10);

  private final GameNode node;

  /** Without news of a session before its rows are looked for. */
  private final long quietNanos;

  private final HealingLimit healings = new HealingLimit(System::nanoTime);
  private final Deque<DurableTracker> toAsk = new ArrayDeque<>();

  MissingRows(GameNode node) {
    this.node = node;
    this.quietNanos = node.config.mergeWindow().plus(FLUSH_TIME).toNanos();
  }

  /** What Redis and MySQL hold of rows of one owner. */
  private record Found(LookupResult redis, OwnerViews.Settled mysql) {
    /** Settles what is in MySQL. */
    void tell(DurableTracker tracker) {
      tracker.found(mysql.versions(), mysql.setAside());
    }

    /** The rows given without those that Redis holds in that version. */
    SortedMap<String, Long> withoutHeld(SortedMap<String, Long> rows) {
      rows.entrySet()
          .removeIf(row -> row.getValue() <= redis.versions().getOrDefault(row.getKey(), -1L));
      return rows;
    }
  }

  /** Asks MySQL about rows of which no notice will tell, those of many sessions at once. */
  void settleOvertaken() {
    List<DurableTracker> asked = new ArrayList<>();
    Set<String> rows = new HashSet<>();
    for (DurableTracker tracker : node.sessions.all()) {
      if (rows.size() >= MOST_ROWS_ASKED) {
        break;
      }
      Set<String> overtaken = tracker.overtakenRows(quietNanos);
      if (!overtaken.isEmpty()) {
        asked.add(tracker);
        rows.addAll(overtaken);
      }
    }
    if (!rows.isEmpty()) {
      Map<String, Long> there = node.views.versions(rows);
      Map<OwnerId, Map<String, Long>> setAside = node.views.setAside(rows);
      asked.forEach(tracker -> tracker.found(there, its(setAside, tracker)));
    }
  }

  private static Map<String, Long> its(
      Map<OwnerId, Map<String, Long>> setAside, DurableTracker tracker) {
    return setAside.getOrDefault(tracker.session().owner().base(), Map.of());
  }

  /** However many sessions wait, Redis is asked about a few of them in each round. */
  void lookForSome() {
    if (toAsk.isEmpty()) {
      toAsk.addAll(node.sessions.all());
    }
    for (int asked = 0; asked < MOST_ASKED_PER_ROUND && !toAsk.isEmpty(); ) {
      DurableTracker tracker = toAsk.remove();
      // No notice of a lost session will come that could be waited for.
      Set<String> rows = tracker.withoutNews(tracker.session().isLost() ? 0 : quietNanos);
      if (!rows.isEmpty()) {
        asked++;
        lookFor(tracker, rows);
      }
    }
  }

  private void lookFor(DurableTracker tracker, Set<String> rows) {
    SessionRef session = tracker.session();
    if (!session.isLost()
        && !LookupScript.holdsNothing(
            node.servers.control().get(),
            node.servers.slots()[session.slot()],
            session.owner(),
            session.id())) {
      return;
    }
    // Redis first: what is gone from there is in MySQL by then.
    Map<String, Long> inRedis = inRedis(session, rows).versions();
    tracker.found(node.views.versions(rows), its(node.views.setAside(rows), tracker));
    if (tracker.missing(rows, inRedis, 0).isEmpty()) {
      healings.isWell(session);
      return;
    }
    if (!stillOwns(session)) {
      session.markLost();
      reportLost(tracker, rows);
    } else if (!tracker.missing(rows, inRedis, REPLAY_GRACE_NANOS).isEmpty()
        && healings.isDue(session)) {
      node.sender.healAgain("rows of %s are in neither Redis nor MySQL".formatted(session));
    }
  }

  private LookupResult inRedis(SessionRef session, Set<String> rows) {
    return LookupScript.look(
        node.servers.control().get(), node.servers.slots()[session.slot()], session.owner(), rows);
  }

  /** Redis first: what is gone from there is in MySQL by then. */
  private Found everywhere(SessionRef session, Set<String> rows) {
    return new Found(inRedis(session, rows), node.views.settled(session.owner().base(), rows));
  }

  /** Whether the session still owns its owner in MySQL. */
  private boolean stillOwns(SessionRef session) {
    if (session.isLost()) {
      return false;
    }
    CountingSessions durable = node.owners.current(Set.of(session.owner())).get(session.owner());
    return session.id().isNewerThan(durable == null ? null : durable.newest())
        || CountingSessions.counts(durable, session.id());
  }

  // --- reports

  /**
   * Another session owns. What it adopted on a Redis that has failed over since, its node puts back
   * when it heals; and an open that is not finished may yet adopt.
   */
  private void reportLost(DurableTracker tracker, Set<String> rows) {
    Found found = everywhere(tracker.session(), rows);
    found.tell(tracker);
    Map<String, Long> inRedis = found.redis.versions();
    SortedMap<String, Long> missing = tracker.missing(rows, inRedis, 0);
    if (missing.isEmpty()) {
      return;
    }
    SessionId successor = found.mysql.open();
    if (successor != null && found.redis.isAllOf(successor)) {
      String reason = "session " + successor + " owns now, and does not hold them";
      report(tracker, missing, reason, false, found);
      return;
    }
    Duration wait = node.config.maxConflictWait();
    SortedMap<String, Long> overdue = tracker.missing(rows, inRedis, wait.toNanos());
    if (!overdue.isEmpty()) {
      String reason =
          "%s may have taken them over, and has not healed for %s s"
              .formatted(
                  successor == null ? "a session that is not open yet" : "session " + successor,
                  wait.toSeconds());
      report(tracker, overdue, reason, true, found);
    }
  }

  /**
   * Reports the rows that a healing did not replay though their session owns. Nobody else may put
   * them back, but for a writer that had claimed them before Redis lost them.
   */
  void reportGivenUp() {
    for (DurableTracker tracker : node.sessions.all()) {
      SortedMap<String, Long> givenUp = tracker.givenUp(CLAIM_GRACE_NANOS);
      if (givenUp.isEmpty() || tracker.session().isLost()) { // of a lost one lookForSome reports
        continue;
      }
      Found found = everywhere(tracker.session(), givenUp.keySet());
      found.tell(tracker);
      SortedMap<String, Long> missing = found.withoutHeld(tracker.givenUp(CLAIM_GRACE_NANOS));
      if (!missing.isEmpty()) {
        report(
            tracker,
            missing,
            "the other half of the commit is lost, another handler has ended the message that it"
                + " acknowledges, or the WAL cannot give it back",
            false,
            found);
      }
    }
  }

  /**
   * Reports rows of a session, and with them, at the same moment, those of earlier sessions of this
   * node that it had adopted: later a row of a newer session would look like one that replaced
   * them. Not a row that is held in its version, though not in this one's.
   */
  private void report(
      DurableTracker tracker,
      SortedMap<String, Long> rows,
      String reason,
      boolean mayComeBack,
      Found found) {
    for (DurableTracker earlier : node.sessions.before(tracker)) {
      found.tell(earlier);
      SortedMap<String, Long> its = found.withoutHeld(earlier.waitingUpTo(rows));
      if (!its.isEmpty()) {
        tell(earlier, its, reason, mayComeBack);
      }
    }
    tell(tracker, rows, reason, mayComeBack);
  }

  /** Tells the log, the session and the game. */
  private void tell(
      DurableTracker tracker, SortedMap<String, Long> rows, String reason, boolean mayComeBack) {
    node.sessions.counts().conflicts.add(rows.size());
    Conflict conflict = tracker.conflict(rows, reason, mayComeBack);
    LOG.error(
        "conflict: Redis lost acknowledged changes {} by {}, and they are not replayed ({}{}): {};"
            + " WAL {}",
        Shown.whose(tracker.session().owner()),
        tracker.session().isInbox() ? "this node" : "session " + conflict.session(),
        reason,
        mayComeBack ? "; they may come back" : "",
        conflict.rows().keySet(),
        node.wal.directory());
    tracker.lost(conflict);
    node.callbacks.execute(() -> node.config.onConflict().accept(conflict));
  }

  /**
   * How often the sender heals again because rows of a session are nowhere: a healing stops all
   * commits for a moment, and does not help where somebody else broke a key. Used by one thread.
   */
  static final class HealingLimit {
    private static final long EVERY_NANOS = TimeUnit.SECONDS.toNanos(30);
    private static final int MOST_DOUBLINGS = 7; // about an hour
    private static final int MOST_SESSIONS = 10_000;

    private final LongSupplier nanoTime;
    private final Map<SessionRef, LastHealing> ofSession = new HashMap<>();
    private long lastNanos;

    private record LastHealing(long nanos, int times) {}

    HealingLimit(LongSupplier nanoTime) {
      this.nanoTime = nanoTime;
      lastNanos = nanoTime.getAsLong() - EVERY_NANOS;
    }

    /**
     * Whether to heal for a session: for any every 30 s at most, for the same one after twice as
     * long each time.
     */
    boolean isDue(SessionRef session) {
      long now = nanoTime.getAsLong();
      LastHealing last = ofSession.get(session);
      if (now - lastNanos < EVERY_NANOS
          || (last != null
              && now - last.nanos < EVERY_NANOS << Math.min(last.times, MOST_DOUBLINGS))) {
        return false;
      }
      lastNanos = now;
      if (ofSession.size() >= MOST_SESSIONS) {
        ofSession.clear();
      }
      ofSession.put(session, new LastHealing(now, last == null ? 1 : last.times + 1));
      return true;
    }

    /** All its rows are somewhere. */
    void isWell(SessionRef session) {
      ofSession.remove(session);
    }
  }
}
