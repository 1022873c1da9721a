package io.gameq.recovery.plan;

import io.gameq.owner.OwnerId;
import io.gameq.owner.SessionId;
import io.gameq.recovery.plan.RowIndex.State;
import io.gameq.wal.WalRecord;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Plans an indexed group: gathers the newest of each row from the WALs into batches, and has each
 * classified. One thread.
 */
final class GroupPlanning implements GroupReading.Sink {
  /** Rows that are asked about at a time. */
  private static final int BATCH_ROWS = 5_000;

  private static final int BATCH_BYTES = 16 << 20;

  /** Names that are parsed once; forgotten when there are more. */
  private static final int MOST_NAMES = 20_000;

  private final OwnerGroup group;
  private final Classification classification;
  private final Planner.Sink sink;
  private final Map<String, OwnerId> owners = new HashMap<>();
  private final Map<String, SessionId> sessions = new HashMap<>();
  private final List<WalRow> batch = new ArrayList<>();
  private long batchBytes;

  GroupPlanning(OwnerGroup group, Classification classification, Planner.Sink sink) {
    this.group = group;
    this.classification = classification;
    this.sink = sink;
  }

  void plan(GroupReading reading) {
    reading.read(group, this);
    classify();
  }

  @Override
  public void part(int wal, long sequence, WalRecord.Part part) {
    group.takeNewest(
        part,
        State.UNSEEN,
        (row, version) -> {
          OwnerId owner = owners.computeIfAbsent(part.owner(), OwnerId::ofEncoded);
          SessionId session = sessions.computeIfAbsent(part.session(), SessionId::parse);
          batch.add(new WalRow(owner, session, row, version, wal, sequence));
          batchBytes += row.image().length;
        });
  }

  /** Here alone, so that a commit never lies in two batches. */
  @Override
  public void endOfRecord() {
    if (batch.size() >= BATCH_ROWS || batchBytes >= BATCH_BYTES) {
      classify();
    }
  }

  private void classify() {
    for (PlannedRow row : classification.classify(batch)) {
      Judgement judgement = row.judgement();
      boolean replay =
          judgement.status() == Status.LOST
              || (judgement.status() == Status.IN_REDIS && judgement.restoresSession());
      if (replay) {
        WalRow change = row.change();
        group.setToReplay(change);
        group
            .trades()
            .count(change.owner().encoded(), change.image().length + change.key().length());
      }
      sink.row(row);
    }
    group.trades().join(batch, group::isToReplay);
    batch.clear();
    batchBytes = 0;
    if (owners.size() > MOST_NAMES) {
      owners.clear();
    }
    if (sessions.size() > MOST_NAMES) {
      sessions.clear();
    }
  }
}
