package io.gameq.upkeep;

import io.gameq.durability.DurableTracker;
import io.gameq.mysql.tables.OwnerTable;
import io.gameq.owner.CountingSessions;
import io.gameq.owner.SessionRef;
import io.gameq.redis.ControlConnection;
import io.gameq.redis.SlotKeys;
import io.gameq.redis.script.LookupScript;
import io.gameq.redis.script.LookupScript.Looked;
import io.gameq.view.OwnerViews;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;

/**
 * Asks Redis and MySQL which rows of a session they hold, and in which version. Every method throws
 * GameQueueException when the server that it asks does not answer. Thread-safe.
 */
final class RowSearch {
  private final ControlConnection control;
  private final SlotKeys[] slots;
  private final OwnerTable owners;
  private final OwnerViews views;

  RowSearch(ControlConnection control, SlotKeys[] slots, OwnerTable owners, OwnerViews views) {
    this.control = control;
    this.slots = slots;
    this.owners = owners;
    this.views = views;
  }

  /** What Redis and MySQL hold of rows of one owner. */
  record Found(Looked redis, OwnerViews.Settled mysql) {
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

  /** Whether Redis holds no row of this session, neither dirty nor claimed. */
  boolean holdsNothing(SessionRef session) {
    return LookupScript.holdsNothing(
        control.get(), slots[session.slot()], session.owner(), session.id());
  }

  Looked inRedis(SessionRef session, Set<String> rows) {
    return LookupScript.look(control.get(), slots[session.slot()], session.owner(), rows);
  }

  /** Settles those of these rows that MySQL holds or has set aside. */
  void settle(DurableTracker tracker, Set<String> rows) {
    tracker.found(
        views.versions(rows),
        views.setAside(rows).getOrDefault(tracker.session().owner().base(), Map.of()));
  }

  /** Redis first: what is gone from there is in MySQL by then. */
  Found everywhere(SessionRef session, Set<String> rows) {
    return new Found(inRedis(session, rows), views.settled(session.owner().base(), rows));
  }

  /** Whether the session still owns its owner in MySQL. */
  boolean stillOwns(SessionRef session) {
    if (session.isLost()) {
      return false;
    }
    CountingSessions durable = owners.current(Set.of(session.owner())).get(session.owner());
    return session.id().isNewerThan(durable == null ? null : durable.newest())
        || CountingSessions.counts(durable, session.id());
  }
}
