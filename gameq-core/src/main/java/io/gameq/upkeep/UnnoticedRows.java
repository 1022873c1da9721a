package io.gameq.upkeep;

import io.gameq.durability.DurableTracker;
import io.gameq.durability.NodeSessions;
import io.gameq.owner.OwnerId;
import io.gameq.view.OwnerViews;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;

/**
 * Asks MySQL about rows of which no notice will tell, those of many sessions at once. Used by the
 * upkeep's thread.
 */
final class UnnoticedRows {
  /** Enough for a healing of thousands of sessions to settle within seconds. */
  private static final int MOST_ROWS_ASKED = 5_000;

  private final NodeSessions sessions;
  private final OwnerViews views;
  private final long everyNanos;

  /** Asks about the rows of one session every so often. */
  UnnoticedRows(NodeSessions sessions, OwnerViews views, long everyNanos) {
    this.sessions = sessions;
    this.views = views;
    this.everyNanos = everyNanos;
  }

  void settle() {
    Map<DurableTracker, Set<String>> asked = new HashMap<>();
    Set<String> rows = new HashSet<>();
    for (DurableTracker tracker : sessions.all()) {
      if (rows.size() >= MOST_ROWS_ASKED) {
        break;
      }
      Set<String> overtaken = tracker.overtakenRows(everyNanos);
      if (!overtaken.isEmpty()) {
        asked.put(tracker, overtaken);
        rows.addAll(overtaken);
      }
    }
    if (!rows.isEmpty()) {
      Map<String, Long> there = views.versions(rows);
      Map<OwnerId, Map<String, Long>> setAside = views.setAside(rows);
      asked.forEach(
          (tracker, of) -> tracker.found(only(of, there), only(of, its(setAside, tracker))));
    }
  }

  private static Map<String, Long> its(
      Map<OwnerId, Map<String, Long>> setAside, DurableTracker tracker) {
    return setAside.getOrDefault(tracker.session().owner().base(), Map.of());
  }

  private static Map<String, Long> only(Set<String> keys, Map<String, Long> versions) {
    Map<String, Long> of = new HashMap<>(versions);
    of.keySet().retainAll(keys);
    return of;
  }
}
