package io.gameq.node;

import io.gameq.Conflict;
import io.gameq.durability.DurableTracker;
import io.gameq.owner.CountingSessions;
import io.gameq.owner.SessionId;
import io.gameq.owner.SessionRef;
import io.gameq.redis.script.LookScript;
import io.gameq.redis.script.LookScript.Looked;
import io.gameq.redis.script.PendingScript;
import io.gameq.view.OwnerViews;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Looks for rows of which no notice came, and settles them: they are in MySQL, or wait in Redis, or
 * nobody holds them. Those are replayed where their session still owns, else reported; never before
 * whoever may hold them has put back what it has. Used by the lookout's thread.
 *
 * <pre>
 * the session still owns          Redis lost them: the sender heals again
 * another is open in MySQL,
 *   owns in Redis and has put
 *   back all it had (look.lua)    nobody will bring them: reported, and lost
 * else                            its node may have adopted them: asked again, until maxConflictWait;
 *                                 then reported as rows that may come back
 * half a trade, or not in the
 *   WAL, of a session that owns   reported once no claim from before the loss can be on its way
 * </pre>
 */
final class MissingRows {
  private static final Logger LOG = LoggerFactory.getLogger(MissingRows.class);

  /** What nobody holds of a session that owns is replayed after so long. */
  private static final long REPLAY_GRACE_NANOS = TimeUnit.SECONDS.toNanos(10);

  /** A writer that claimed a row before Redis lost it begins its flush well within that. */
  private static final long CLAIM_GRACE_NANOS = TimeUnit.SECONDS.toNanos(10);

  private final Lookout.Parts parts;
  private final HealingLimit healsAgain = new HealingLimit(System::nanoTime);
  private volatile boolean hadConflicts;

  MissingRows(Lookout.Parts parts) {
    this.parts = parts;
  }

  /** Whether rows were reported as lost: then the WAL is the only place that has them. */
  boolean hadConflicts() {
    return hadConflicts;
  }

  /** Looks for rows of which no notice came. */
  void lookFor(DurableTracker tracker, Set<String> rows) {
    SessionRef session = tracker.session();
    if (!session.isLost() && !holdsNothing(session)) {
      return;
    }
    Map<String, Long> inRedis = look(session, rows).versions(); // first, as in see
    tracker.found(
        parts.views().versions(rows),
        parts.views().setAside(rows).getOrDefault(session.owner(), Map.of()));
    if (tracker.missing(rows, inRedis, 0).isEmpty()) {
      healsAgain.isWell(session);
      return;
    }
    if (!stillOwns(session)) {
      session.markLost();
      reportLost(tracker, rows);
    } else if (!tracker.missing(rows, inRedis, REPLAY_GRACE_NANOS).isEmpty()
        && healsAgain.isDue(session)) {
      parts.sender().healAgain("rows of %s are in neither Redis nor MySQL".formatted(session));
    }
  }

  private boolean holdsNothing(SessionRef session) {
    return PendingScript.holdsNothing(
        parts.control().get(), parts.slots()[session.slot()], session.owner(), session.id());
  }

  private Looked look(SessionRef session, Set<String> rows) {
    return LookScript.call(
        parts.control().get(), parts.slots()[session.slot()], session.owner(), rows);
  }

  /** What holds rows of one owner. */
  private record Seen(Looked redis, OwnerViews.Settled mysql) {
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

  /** Redis first: what is gone from there is in MySQL by then. */
  private Seen see(SessionRef session, Set<String> rows) {
    return new Seen(look(session, rows), parts.views().settled(session.owner(), rows));
  }

  private boolean stillOwns(SessionRef session) {
    if (session.isLost()) {
      return false;
    }
    CountingSessions durable =
        parts.owners().current(List.of(session.owner())).get(session.owner());
    return session.id().isNewerThan(durable == null ? null : durable.newest())
        || CountingSessions.counts(durable, session.id());
  }

  /**
   * Another session owns. What it adopted on a Redis that has failed over since, its node puts back
   * when it heals; and an open that is not finished may yet adopt.
   */
  private void reportLost(DurableTracker tracker, Set<String> rows) {
    SessionRef session = tracker.session();
    Seen seen = see(session, rows);
    seen.tell(tracker);
    SortedMap<String, Long> missing = tracker.missing(rows, seen.redis().versions(), 0);
    if (missing.isEmpty()) {
      return;
    }
    SessionId successor = seen.mysql().open();
    if (successor != null && seen.redis().isAllOf(successor)) {
      report(
          tracker,
          missing,
          "session " + successor + " owns now, and does not hold them",
          false,
          seen);
      return;
    }
    long waitNanos = parts.config().maxConflictWait().toNanos();
    SortedMap<String, Long> overdue = tracker.missing(rows, seen.redis().versions(), waitNanos);
    if (!overdue.isEmpty()) {
      report(
          tracker,
          overdue,
          "%s may have taken them over, and has not healed for %d s"
              .formatted(
                  successor == null ? "a session that is not open yet" : "session " + successor,
                  parts.config().maxConflictWait().toSeconds()),
          true,
          seen);
    }
  }

  /**
   * Rows that the sender gave up though their session owns. Nobody else may put them back, but for
   * a writer that had claimed them before Redis lost them.
   */
  void lookForGivenUp(DurableTracker tracker) {
    SortedMap<String, Long> givenUp = tracker.givenUp(CLAIM_GRACE_NANOS);
    if (givenUp.isEmpty() || tracker.session().isLost()) { // a lost session is looked for as ever
      return;
    }
    Seen seen = see(tracker.session(), givenUp.keySet());
    seen.tell(tracker);
    SortedMap<String, Long> missing = seen.withoutHeld(tracker.givenUp(CLAIM_GRACE_NANOS));
    if (!missing.isEmpty()) {
      report(
          tracker,
          missing,
          "the other half of the commit is lost, or the WAL cannot give it back",
          false,
          seen);
    }
  }

  /**
   * Earlier sessions of this node, whose rows this one had adopted, are told at the same moment:
   * later a row of a newer session would look like one that replaced them. Not of a row that is
   * held in their version, though not in this one's.
   */
  private void report(
      DurableTracker tracker,
      SortedMap<String, Long> rows,
      String reason,
      boolean mayComeBack,
      Seen seen) {
    for (DurableTracker earlier : parts.sessions().before(tracker)) {
      seen.tell(earlier);
      SortedMap<String, Long> its = seen.withoutHeld(earlier.waitingUpTo(rows));
      if (!its.isEmpty()) {
        tell(earlier, its, reason, mayComeBack);
      }
    }
    tell(tracker, rows, reason, mayComeBack);
  }

  private void tell(
      DurableTracker tracker, SortedMap<String, Long> rows, String reason, boolean mayComeBack) {
    hadConflicts = true;
    Conflict conflict = tracker.conflict(rows, reason, mayComeBack);
    LOG.error(
        "conflict: Redis lost acknowledged changes of {} by session {}, and they are not replayed"
            + " ({}{}): {}; WAL {}",
        conflict.owner(),
        conflict.session(),
        reason,
        mayComeBack ? "; they may come back" : "",
        conflict.rows().keySet(),
        parts.wal().directory());
    tracker.lost(conflict);
    parts.callbacks().execute(() -> parts.config().onConflict().accept(conflict));
  }
}
