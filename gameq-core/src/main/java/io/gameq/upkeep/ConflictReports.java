package io.gameq.upkeep;

import io.gameq.Conflict;
import io.gameq.durability.Callbacks;
import io.gameq.durability.DurableTracker;
import io.gameq.durability.NodeSessions;
import io.gameq.terminal.Shown;
import io.gameq.upkeep.NodeUpkeep.RowSearch;
import java.nio.file.Path;
import java.util.SortedMap;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Tells the log, the game and the session of rows that are lost. Used by the upkeep's thread. */
final class ConflictReports {
  private static final Logger LOG = LoggerFactory.getLogger(ConflictReports.class);

  private final NodeSessions sessions;
  private final Callbacks callbacks;
  private final Consumer<Conflict> onConflict;
  private final Path walDirectory;
  private volatile boolean hasReported;

  ConflictReports(
      NodeSessions sessions,
      Callbacks callbacks,
      Consumer<Conflict> onConflict,
      Path walDirectory) {
    this.sessions = sessions;
    this.callbacks = callbacks;
    this.onConflict = onConflict;
    this.walDirectory = walDirectory;
  }

  /** Whether any row was reported as lost; for any thread. */
  boolean hasReported() {
    return hasReported;
  }

  /**
   * Reports rows of a session, and with them, at the same moment, those of earlier sessions of this
   * node that it had adopted: later a row of a newer session would look like one that replaced
   * them. Not a row that is held in its version, though not in this one's.
   */
  void report(
      DurableTracker tracker,
      SortedMap<String, Long> rows,
      String reason,
      boolean mayComeBack,
      RowSearch.Found found) {
    for (DurableTracker earlier : sessions.before(tracker)) {
      found.tell(earlier);
      SortedMap<String, Long> its = found.withoutHeld(earlier.waitingUpTo(rows));
      if (!its.isEmpty()) {
        tell(earlier, its, reason, mayComeBack);
      }
    }
    tell(tracker, rows, reason, mayComeBack);
  }

  private void tell(
      DurableTracker tracker, SortedMap<String, Long> rows, String reason, boolean mayComeBack) {
    hasReported = true;
    sessions.counts().conflicts(rows.size());
    Conflict conflict = tracker.conflict(rows, reason, mayComeBack);
    LOG.error(
        "conflict: Redis lost acknowledged changes {} by {}, and they are not replayed ({}{}): {};"
            + " WAL {}",
        Shown.whose(tracker.session().owner()),
        tracker.session().isInbox() ? "this node" : "session " + conflict.session(),
        reason,
        mayComeBack ? "; they may come back" : "",
        conflict.rows().keySet(),
        walDirectory);
    tracker.lost(conflict);
    callbacks.execute(() -> onConflict.accept(conflict));
  }
}
