package io.gameq.node;

import io.gameq.change.ChangedRow;
import io.gameq.change.CommitPart;
import io.gameq.change.VersionClock;
import io.gameq.commit.CommitSender;
import io.gameq.durability.DurableTracker;
import io.gameq.durability.NodeSessions;
import io.gameq.durability.PendingHandovers;
import io.gameq.owner.SessionRef;
import io.gameq.rows.EncodedRow;
import io.gameq.view.GameTables;
import io.gameq.view.OwnerView;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Makes a session that was opened, and what it adopted, known to the node: to its WAL, its sender
 * and its list of sessions. Thread-safe.
 */
final class SessionAdoption implements OpeningPorts.ToWal {
  private final NodeSessions sessions;
  private final CommitSender sender;
  private final VersionClock versions;
  private final GameTables tables;
  private final int recordBytes;

  /** With the most bytes of a WAL record. */
  SessionAdoption(
      NodeSessions sessions,
      CommitSender sender,
      VersionClock versions,
      GameTables tables,
      int recordBytes) {
    this.sessions = sessions;
    this.sender = sender;
    this.versions = versions;
    this.tables = tables;
    this.recordBytes = recordBytes;
  }

  /** A session as the game is given it. */
  record Opened(
      DurableTracker tracker, OwnerView view, PendingHandovers handovers, HandledBefore handled) {}

  @Override
  public List<Long> append(SessionRef session, List<EncodedRow> rows) {
    DurableTracker tracker = new DurableTracker(session, sessions.counts());
    tracker.adopting(sender.newestSequence() + 1);
    sessions.add(tracker); // from here on the WAL is kept for it
    Long[] sequences = new Long[rows.size()];
    List<ChangedRow> record = new ArrayList<>();
    long bytes = 0;
    int from = 0;
    for (int i = 0; i < sequences.length; i++) {
      EncodedRow row = rows.get(i);
      if (!record.isEmpty() && bytes + row.image().length > recordBytes) {
        Arrays.fill(sequences, from, i, append(session, record));
        record.clear();
        bytes = 0;
        from = i;
      }
      record.add(new ChangedRow(row));
      bytes += row.key().length() + row.image().length;
    }
    Arrays.fill(sequences, from, sequences.length, append(session, record));
    return Collections.unmodifiableList(Arrays.asList(sequences));
  }

  private Long append(SessionRef session, Collection<ChangedRow> record) {
    return sender.appendAdopted(new CommitPart(session, List.copyOf(record)));
  }

  @Override
  public void drop(SessionRef session) {
    sender.unregister(session);
    DurableTracker tracker = tracker(session);
    if (tracker != null) {
      sessions.remove(tracker);
    }
  }

  private @Nullable DurableTracker tracker(SessionRef session) {
    return sessions.find(session.owner().encoded(), session.id().text());
  }

  /**
   * The session is the node's from now on: its versions are above all that were seen, and it is
   * healed with the others.
   */
  Opened register(SessionRef session, Opening.Open open) {
    DurableTracker known = tracker(session);
    DurableTracker tracker = known == null ? new DurableTracker(session, sessions.counts()) : known;
    OwnerView view = open.view();
    AdoptedRows rows = open.rows();
    versions.observe(view.highestVersion());
    tracker.adopted(rows.heldDirty(), rows.heldClaimed());
    handOn(tracker, rows.versions());
    view.unflushed().forEach(image -> tracker.carry(image.rowKey().text(), tables.carried(image)));
    sessions.add(tracker);
    tracker
        .session()
        .whenLost(
            () -> {
              sessions.counts().sessionLost();
              tracker.news().tellLost();
            });
    sender.register(tracker.session(), tracker, open.by().connections());
    return new Opened(
        tracker, view, new PendingHandovers(rows.all()), new HandledBefore(tracker, rows.all()));
  }

  /** Tells the owner's earlier sessions of this node what the new one adopted. */
  private void handOn(DurableTracker tracker, Map<String, Long> adopted) {
    if (!adopted.isEmpty()) {
      sessions.before(tracker).forEach(earlier -> earlier.adoptedBy(tracker, adopted));
    }
  }
}
