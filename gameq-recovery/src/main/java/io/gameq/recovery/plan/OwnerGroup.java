package io.gameq.recovery.plan;

import io.gameq.owner.OwnerId;
import io.gameq.recovery.plan.RowIndex.Newest;
import io.gameq.recovery.plan.RowIndex.State;
import io.gameq.recovery.wal.Versions;
import io.gameq.rows.EncodedRow;
import io.gameq.wal.WalRecord;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A group of owners that are planned together, since an index of their rows fits into memory: the
 * newest of each row, and which of them to replay. Not thread-safe.
 */
public final class OwnerGroup {
  private final RowIndex rows;
  private final OwnerIndex owners = new OwnerIndex();
  private final TradeGroups trades = new TradeGroups();
  private final RowHash hash;
  private final int number;
  private final int of;

  /**
   * An empty group.
   *
   * @param number which group, below {@code of}, a power of two
   * @param mostRows more are not indexed, and {@link #isFull} says so
   */
  OwnerGroup(RowHash hash, int number, int of, long mostRows) {
    this.hash = hash;
    this.number = number;
    this.of = of;
    this.rows = new RowIndex(mostRows);
  }

  /** Whether an owner, encoded, is of this group. */
  boolean has(String owner) {
    return ((int) (hash.owner(owner).high() >>> 48) & (of - 1)) == number;
  }

  boolean isFull() {
    return rows.isFull();
  }

  /** Notes the session of a part, and its rows unless their commit failed. */
  void note(int wal, WalRecord.Part part, boolean failed) {
    RowHash owner = noteSession(wal, part);
    long epoch = epoch(part.session());
    if (!failed) {
      for (EncodedRow row : part.rows()) {
        rows.note(owner.row(row.key()), Versions.of(row.image()), epoch);
      }
    }
  }

  /** Notes the session of a part alone; its owner may be of another group. */
  RowHash noteSession(int wal, WalRecord.Part part) {
    RowHash owner = hash.owner(part.owner());
    owners.note(owner, epoch(part.session()), nonce(part.session()), wal);
    return owner;
  }

  private static long epoch(String session) {
    return Long.parseUnsignedLong(session, 0, 16, 16);
  }

  private static long nonce(String session) {
    return Long.parseUnsignedLong(session, 17, 33, 16);
  }

  /** Takes rows of a part. */
  interface NewestRows {
    void row(EncodedRow row, long version);
  }

  /** Hands over the newest rows of a part that are in a state, which becomes SEEN. */
  void takeNewest(WalRecord.Part part, State in, NewestRows sink) {
    RowHash owner = hash.owner(part.owner());
    long epoch = epoch(part.session());
    for (EncodedRow row : part.rows()) {
      long version = Versions.of(row.image());
      Newest newest = rows.find(owner.row(row.key()), version, epoch);
      if (newest != null && newest.state == in) {
        newest.state = State.SEEN; // it may stand in several WALs
        sink.row(row, version);
      }
    }
  }

  void setToReplay(WalRow row) {
    Objects.requireNonNull(find(row)).state = State.TO_REPLAY;
  }

  boolean isToReplay(WalRow row) {
    Newest newest = find(row);
    return newest != null && newest.state == State.TO_REPLAY;
  }

  private @Nullable Newest find(WalRow row) {
    RowHash key = hash.owner(row.owner().encoded()).row(row.key());
    return rows.find(key, row.version(), row.session().epoch());
  }

  /** The newest session of an owner of the group. */
  OwnerIndex.Newest newestSession(OwnerId owner) {
    return Objects.requireNonNull(owners.find(hash.owner(owner.encoded())));
  }

  /** Which owners committed together what is to be replayed. */
  public TradeGroups trades() {
    return trades;
  }
}
