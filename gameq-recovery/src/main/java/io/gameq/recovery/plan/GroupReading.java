package io.gameq.recovery.plan;

import io.gameq.recovery.wal.WalSet;
import io.gameq.wal.WalReader;
import io.gameq.wal.WalRecord;
import java.util.Set;

/** Reads what WALs hold of the owners of a group. One thread. */
final class GroupReading {
  private final WalSet wals;
  private final Set<String> wanted;

  /**
   * A reading.
   *
   * @param wanted encoded owners; empty for all
   */
  GroupReading(WalSet wals, Set<String> wanted) {
    this.wals = wals;
    this.wanted = wanted;
  }

  /** Takes the parts of records. */
  interface Sink {
    void part(int wal, long sequence, WalRecord.Part part);

    /** All parts of a record were handed over. */
    default void endOfRecord() {}
  }

  /** Indexes all WALs: rows of commits that did not fail, and sessions of all. */
  void index(OwnerGroup group) {
    wals.read(
        (wal, entry) -> {
          boolean failed = isFailed(wal, entry);
          for (WalRecord.Part part : entry.record().parts()) {
            if (isWanted(group, part)) {
              group.note(wal, part, failed);
            }
          }
        });
  }

  /** Hands over the parts of all that did not fail, in the order of the WALs. */
  void read(OwnerGroup group, Sink sink) {
    wals.read(
        (wal, entry) -> {
          if (isFailed(wal, entry)) {
            return;
          }
          for (WalRecord.Part part : entry.record().parts()) {
            if (isWanted(group, part)) {
              sink.part(wal, entry.sequence(), part);
            }
          }
          sink.endOfRecord();
        });
  }

  private boolean isWanted(OwnerGroup group, WalRecord.Part part) {
    return (wanted.isEmpty() || wanted.contains(part.owner())) && group.has(part.owner());
  }

  private boolean isFailed(int wal, WalReader.Entry entry) {
    return entry.record() instanceof WalRecord.Committed
        && wals.folders().get(wal).isFailed(entry.sequence());
  }
}
