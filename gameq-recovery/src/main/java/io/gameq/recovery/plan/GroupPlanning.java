package io.gameq.recovery.plan;

import io.gameq.owner.OwnerId;
import io.gameq.owner.SessionId;
import io.gameq.recovery.plan.RowIndex.State;
import io.gameq.recovery.wal.Versions;
import io.gameq.rows.EncodedRow;
import io.gameq.wal.WalReader;
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
  private final List<WalRow> sentWith = new ArrayList<>();
  private boolean isSentInRecord;
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
          WalRow next = row(part, row, wal, sequence);
          batch.add(next);
          batchBytes += row.image().length;
          isSentInRecord |= next.owner().isInbox();
        });
  }

  private WalRow row(WalRecord.Part part, EncodedRow row, int wal, long sequence) {
    OwnerId owner = owners.computeIfAbsent(part.owner(), OwnerId::ofEncoded);
    SessionId session = sessions.computeIfAbsent(part.session(), SessionId::parse);
    return new WalRow(owner, session, row, Versions.of(row.image()), wal, sequence);
  }

  /** Here alone, so that a commit never lies in two batches. */
  @Override
  public void endOfRecord(int wal, WalReader.Entry entry) {
    if (isSentInRecord) {
      for (WalRecord.Part part : GroupReading.sentWith(entry)) {
        part.rows().forEach(row -> sentWith.add(row(part, row, wal, entry.sequence())));
      }
    }
    isSentInRecord = false;
    if (batch.size() + sentWith.size() >= BATCH_ROWS || batchBytes >= BATCH_BYTES) {
      classify();
    }
  }

  private void classify() {
    SentRowsJudge sent = new SentRowsJudge(classification.classify(sentWith));
    for (PlannedRow found : classification.classify(batch)) {
      PlannedRow row = sent.judge(found);
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
    sentWith.clear();
    batchBytes = 0;
    if (owners.size() > MOST_NAMES) {
      owners.clear();
    }
    if (sessions.size() > MOST_NAMES) {
      sessions.clear();
    }
  }
}
