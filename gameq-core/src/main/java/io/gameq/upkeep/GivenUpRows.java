package io.gameq.upkeep;

import io.gameq.durability.DurableTracker;
import io.gameq.durability.NodeSessions;
import java.util.SortedMap;
import java.util.concurrent.TimeUnit;

/**
 * Reports the rows that a healing did not replay though their session owns. Nobody else may put
 * them back, but for a writer that had claimed them before Redis lost them. Used by the upkeep's
 * thread.
 */
final class GivenUpRows {
  /** A writer that claimed a row before Redis lost it begins its flush well within that. */
  private static final long CLAIM_GRACE_NANOS = TimeUnit.SECONDS.toNanos(10);

  private final NodeSessions sessions;
  private final RowSearch search;
  private final ConflictReports conflicts;

  GivenUpRows(NodeSessions sessions, RowSearch search, ConflictReports conflicts) {
    this.sessions = sessions;
    this.search = search;
    this.conflicts = conflicts;
  }

  void report() {
    sessions.all().forEach(this::report);
  }

  private void report(DurableTracker tracker) {
    SortedMap<String, Long> givenUp = tracker.givenUp(CLAIM_GRACE_NANOS);
    if (givenUp.isEmpty() || tracker.session().isLost()) { // of a lost one MissingRows reports
      return;
    }
    RowSearch.Found found = search.everywhere(tracker.session(), givenUp.keySet());
    found.tell(tracker);
    SortedMap<String, Long> missing = found.withoutHeld(tracker.givenUp(CLAIM_GRACE_NANOS));
    if (!missing.isEmpty()) {
      conflicts.report(
          tracker,
          missing,
          "the other half of the commit is lost, another handler has ended the message that it"
              + " acknowledges, or the WAL cannot give it back",
          false,
          found);
    }
  }
}
