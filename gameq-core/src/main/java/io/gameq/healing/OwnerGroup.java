package io.gameq.healing;

import io.gameq.owner.OwnerId;
import io.gameq.owner.SessionId;
import io.gameq.rows.EncodedRow;
import io.gameq.wal.WalRecord;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.function.ObjLongConsumer;
import org.jspecify.annotations.Nullable;

/**
 * A group of owners that are planned together, since an index of their rows fits into memory: the
 * newest version of each row, the newest session of each owner, and which rows to replay. Not
 * thread-safe.
 *
 * <p>A row may stand in several WALs in one version: committed under one session and adopted by the
 * next. The newest of these sessions counts.
 */
public final class OwnerGroup {
  /** What one row takes here, measured with a million and with five million rows. */
  static final int BYTES_PER_ROW = 100;

  private final Map<RowHash.Key, Newest> rows = new HashMap<>();
  private final Map<RowHash.Key, KnownSession> sessions = new HashMap<>();
  private final TradeGroups trades = new TradeGroups();
  private final RowHash hash;
  private final int number;
  private final int of;
  private final long mostRows;
  private boolean full;

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
    this.mostRows = mostRows;
  }

  /** What becomes of a row; what else it may be, its status says. */
  enum State {
    UNSEEN,
    SEEN,
    TO_REPLAY
  }

  /** The newest version of a row, and the epoch under which it was written last. */
  private static final class Newest {
    private State state = State.UNSEEN;
    private long version;
    private int epoch;

    private boolean is(long itsVersion, int itsEpoch) {
      return version == itsVersion && epoch == itsEpoch;
    }

    private void note(long itsVersion, int itsEpoch) {
      int newer = Long.compareUnsigned(itsVersion, version);
      if (newer > 0 || (newer == 0 && Integer.compareUnsigned(itsEpoch, epoch) > 0)) {
        version = itsVersion;
        epoch = itsEpoch;
      }
    }
  }

  /** The newest session of an owner, and the number of the WAL that it was found in. */
  record OwnersNewest(SessionId session, int wal) {}

  /** The same, in few bytes. */
  private record KnownSession(long epoch, long nonce, int wal) {}

  /** Whether an owner, encoded, is of this group. */
  boolean has(String owner) {
    return ((int) (hash.owner(owner).high() >>> 48) & (of - 1)) == number;
  }

  /** Whether rows were left out for want of room. */
  boolean isFull() {
    return full;
  }

  /** Distinct rows. */
  long size() {
    return rows.size();
  }

  /** Notes the session of a part, and its rows unless their commit failed. */
  void note(int wal, WalRecord.Part part, boolean failed) {
    RowHash owner = noteSession(wal, part);
    if (failed) {
      return;
    }
    int epoch = shortEpoch(epoch(part.session()));
    for (EncodedRow row : part.rows()) {
      RowHash.Key key = owner.row(row.key()).key();
      if (rows.size() >= mostRows && !rows.containsKey(key)) {
        full = true;
      } else {
        rows.computeIfAbsent(key, of -> new Newest()).note(WalRow.version(row.image()), epoch);
      }
    }
  }

  /** Notes the session of a part alone; its owner may be of another group. */
  RowHash noteSession(int wal, WalRecord.Part part) {
    RowHash owner = hash.owner(part.owner());
    RowHash.Key key = owner.key();
    long epoch = epoch(part.session());
    KnownSession known = sessions.get(key);
    if (known == null || Long.compareUnsigned(epoch, known.epoch) > 0) {
      long nonce = Long.parseUnsignedLong(part.session(), 17, 33, 16);
      sessions.put(key, new KnownSession(epoch, nonce, wal));
    }
    return owner;
  }

  private static long epoch(String session) {
    return Long.parseUnsignedLong(session, 0, 16, 16);
  }

  /** Epochs rise by one for every open of an owner: four billion are enough to tell them apart. */
  private static int shortEpoch(long epoch) {
    return epoch >>> 32 == 0 ? (int) epoch : -1;
  }

  /** Hands over the newest rows of a part that are in a state, which becomes SEEN. */
  void takeNewest(WalRecord.Part part, State in, ObjLongConsumer<EncodedRow> sink) {
    RowHash owner = hash.owner(part.owner());
    long epoch = epoch(part.session());
    for (EncodedRow row : part.rows()) {
      long version = WalRow.version(row.image());
      Newest newest = find(owner.row(row.key()), version, epoch);
      if (newest != null && newest.state == in) {
        newest.state = State.SEEN; // it may stand in several WALs
        sink.accept(row, version);
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
    return find(key, row.version(), row.session().epoch());
  }

  /** A row, if this is its newest version, written under its newest session; else null. */
  private @Nullable Newest find(RowHash row, long version, long epoch) {
    Newest known = rows.get(row.key());
    return known != null && known.is(version, shortEpoch(epoch)) ? known : null;
  }

  /** The newest session of an owner that was noted. */
  OwnersNewest newestSession(OwnerId owner) {
    KnownSession known =
        Objects.requireNonNull(sessions.get(hash.owner(owner.encoded()).key()), owner.id());
    return new OwnersNewest(new SessionId(known.epoch, "%016x".formatted(known.nonce)), known.wal);
  }

  /** Which owners committed together what is to be replayed. */
  TradeGroups trades() {
    return trades;
  }
}
