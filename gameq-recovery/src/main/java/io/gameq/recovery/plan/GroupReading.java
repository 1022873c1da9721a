package io.gameq.recovery.plan;

import io.gameq.owner.OwnerId;
import io.gameq.recovery.wal.WalSet;
import io.gameq.wal.WalReader;
import io.gameq.wal.WalRecord;
import java.util.List;
import java.util.Set;

/** Reads what WALs hold of the owners of a group. One thread. */
final class GroupReading {
  private final WalSet wals;
  private final Set<String> wanted;

  /**
   * A reading.
   *
   * @param wanted encoded owners, whose inboxes are wanted too; empty for all
   */
  GroupReading(WalSet wals, Set<String> wanted) {
    this.wals = wals;
    this.wanted = wanted;
  }

  /** Takes the parts of records. */
  interface Sink {
    void part(int wal, long sequence, WalRecord.Part part);

    /** All parts of a record that are wanted were handed over. */
    default void endOfRecord(int wal, WalReader.Entry entry) {}
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
          sentWith(entry).forEach(part -> group.noteSession(wal, part));
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
          sink.endOfRecord(wal, entry);
        });
  }

  private boolean isWanted(OwnerGroup group, WalRecord.Part part) {
    return (wanted.isEmpty() || wanted.contains(OwnerId.baseOf(part.owner())))
        && group.has(part.owner());
  }

  /**
   * Parts of a commit together with which rows were sent, whoever is wanted: with them these stand
   * or fall.
   */
  static List<WalRecord.Part> sentWith(WalReader.Entry entry) {
    List<WalRecord.Part> all = entry.record().parts();
    if (all.size() < 2) {
      return List.of();
    }
    List<WalRecord.Part> own = all.stream().filter(part -> !isInbox(part)).toList();
    return own.size() < all.size() ? own : List.of();
  }

  private static boolean isInbox(WalRecord.Part part) {
    return !OwnerId.baseOf(part.owner()).equals(part.owner());
  }

  private boolean isFailed(int wal, WalReader.Entry entry) {
    return entry.record() instanceof WalRecord.Committed
        && wals.folders().get(wal).isFailed(entry.sequence());
  }
}
