package io.gameq.upkeep;

import io.gameq.durability.DurableTracker;
import io.gameq.durability.NodeSessions;
import io.gameq.owner.DurableSessions.SessionId;
import io.gameq.owner.SessionRef;
import io.gameq.upkeep.NodeUpkeep.RowSearch;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.LongSupplier;

/**
 * Looks for rows of which no notice came, and settles them: they are in MySQL, or wait in Redis, or
 * nobody holds them. Those are replayed where their session still owns, else reported; never before
 * whoever may hold them has put back what it has. Used by the upkeep's thread.
 *
 * <pre>
 * the session still owns          Redis lost them: the sender heals again
 * another is open in MySQL,
 *   owns in Redis and has put
 *   back all it had (look.lua)    nobody will bring them: reported, and lost
 * else                            its node may have adopted them: asked again, until
 *                                 maxConflictWait;
 *                                 then reported as rows that may come back
 * half a trade, or not in the
 *   WAL, of a session that owns   see GivenUpRows
 * </pre>
 */
final class MissingRows {
  private static final int MOST_ASKED_PER_ROUND = 100;

  /** What nobody holds of a session that owns is replayed after so long. */
  private static final long REPLAY_GRACE_NANOS = TimeUnit.SECONDS.toNanos(10);

  private final NodeSessions sessions;
  private final RowSearch search;
  private final ConflictReports conflicts;
  private final Consumer<String> healAgain;
  private final Waits waits;
  private final HealingLimit healings = new HealingLimit(System::nanoTime);
  private final Deque<DurableTracker> toAsk = new ArrayDeque<>();

  /**
   * How long to wait before rows are looked for, and before they are reported.
   *
   * @param quietNanos without news of a session
   * @param conflictNanos for a node that may have adopted them
   */
  record Waits(long quietNanos, long conflictNanos) {}

  /** With a way to have the sender heal again, for the reason given. */
  MissingRows(
      NodeSessions sessions,
      RowSearch search,
      ConflictReports conflicts,
      Consumer<String> healAgain,
      Waits waits) {
    this.sessions = sessions;
    this.search = search;
    this.conflicts = conflicts;
    this.healAgain = healAgain;
    this.waits = waits;
  }

  /** However many sessions wait, Redis is asked about a few of them in each round. */
  void lookForSome() {
    if (toAsk.isEmpty()) {
      toAsk.addAll(sessions.all());
    }
    for (int asked = 0; asked < MOST_ASKED_PER_ROUND && !toAsk.isEmpty(); ) {
      DurableTracker tracker = toAsk.remove();
      // No notice of a lost session will come that could be waited for.
      Set<String> rows = tracker.withoutNews(tracker.session().isLost() ? 0 : waits.quietNanos);
      if (!rows.isEmpty()) {
        asked++;
        lookFor(tracker, rows);
      }
    }
  }

  private void lookFor(DurableTracker tracker, Set<String> rows) {
    SessionRef session = tracker.session();
    if (!session.isLost() && !search.holdsNothing(session)) {
      return;
    }
    // Redis first: what is gone from there is in MySQL by then.
    Map<String, Long> inRedis = search.inRedis(session, rows).versions();
    search.settle(tracker, rows);
    if (tracker.missing(rows, inRedis, 0).isEmpty()) {
      healings.isWell(session);
      return;
    }
    if (!search.stillOwns(session)) {
      session.markLost();
      reportLost(tracker, rows);
    } else if (!tracker.missing(rows, inRedis, REPLAY_GRACE_NANOS).isEmpty()
        && healings.isDue(session)) {
      healAgain.accept("rows of %s are in neither Redis nor MySQL".formatted(session));
    }
  }

  /**
   * Another session owns. What it adopted on a Redis that has failed over since, its node puts back
   * when it heals; and an open that is not finished may yet adopt.
   */
  private void reportLost(DurableTracker tracker, Set<String> rows) {
    RowSearch.Found found = search.everywhere(tracker.session(), rows);
    found.tell(tracker);
    Map<String, Long> inRedis = found.redis().versions();
    SortedMap<String, Long> missing = tracker.missing(rows, inRedis, 0);
    if (missing.isEmpty()) {
      return;
    }
    SessionId successor = found.mysql().open();
    if (successor != null && found.redis().isAllOf(successor)) {
      String reason = "session " + successor + " owns now, and does not hold them";
      conflicts.report(tracker, missing, reason, false, found);
      return;
    }
    SortedMap<String, Long> overdue = tracker.missing(rows, inRedis, waits.conflictNanos);
    if (!overdue.isEmpty()) {
      String reason =
          "%s may have taken them over, and has not healed for %s s"
              .formatted(
                  successor == null ? "a session that is not open yet" : "session " + successor,
                  TimeUnit.NANOSECONDS.toSeconds(waits.conflictNanos));
      conflicts.report(tracker, overdue, reason, true, found);
    }
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
    private final Map<SessionRef, Last> ofSession = new HashMap<>();
    private long lastNanos;

    private record Last(long nanos, int times) {}

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
      Last last = ofSession.get(session);
      if (now - lastNanos < EVERY_NANOS
          || (last != null
              && now - last.nanos < EVERY_NANOS << Math.min(last.times, MOST_DOUBLINGS))) {
        return false;
      }
      lastNanos = now;
      if (ofSession.size() >= MOST_SESSIONS) {
        ofSession.clear();
      }
      ofSession.put(session, new Last(now, last == null ? 1 : last.times + 1));
      return true;
    }

    /** All its rows are somewhere. */
    void isWell(SessionRef session) {
      ofSession.remove(session);
    }
  }
}
