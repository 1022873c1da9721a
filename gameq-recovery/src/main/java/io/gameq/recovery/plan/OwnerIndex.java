package io.gameq.recovery.plan;

import io.gameq.owner.SessionId;
import org.jspecify.annotations.Nullable;

/** The newest session of each owner that WALs know, in 32 bytes a place. Not thread-safe. */
public final class OwnerIndex {
  private long[] high = new long[256];
  private int[] low = new int[256];
  private long[] epoch = new long[256];
  private long[] nonce = new long[256];
  private int[] wal = new int[256];
  private int size;

  /** A session and the WAL that it was found in. */
  record Newest(SessionId session, int wal) {}

  /** Notes a session; {@code inWal} is the number of the WAL. */
  void note(RowHash owner, long itsEpoch, long itsNonce, int inWal) {
    int at = place(owner.high(), owner.low());
    if (wal[at] == 0) {
      high[at] = owner.high();
      low[at] = owner.low();
      if (++size > high.length * 7L / 10) {
        grow();
        at = place(owner.high(), owner.low());
        high[at] = owner.high();
        low[at] = owner.low();
      }
    } else if (Long.compareUnsigned(itsEpoch, epoch[at]) <= 0) {
      return;
    }
    epoch[at] = itsEpoch;
    nonce[at] = itsNonce;
    wal[at] = inWal + 1;
  }

  /** The newest session of an owner; null when it is not known. */
  @Nullable Newest find(RowHash owner) {
    int at = place(owner.high(), owner.low());
    return wal[at] == 0
        ? null
        : new Newest(new SessionId(epoch[at], "%016x".formatted(nonce[at])), wal[at] - 1);
  }

  private int place(long h, int l) {
    int mask = high.length - 1;
    int at = (int) (h >>> 6) & mask;
    while (wal[at] != 0 && (high[at] != h || low[at] != l)) {
      at = (at + 1) & mask;
    }
    return at;
  }

  private void grow() {
    OwnerIndex old = new OwnerIndex();
    old.high = high;
    old.low = low;
    old.epoch = epoch;
    old.nonce = nonce;
    old.wal = wal;
    int places = high.length * 2;
    high = new long[places];
    low = new int[places];
    epoch = new long[places];
    nonce = new long[places];
    wal = new int[places];
    for (int i = 0; i < old.high.length; i++) {
      if (old.wal[i] != 0) {
        int at = place(old.high[i], old.low[i]);
        high[at] = old.high[i];
        low[at] = old.low[i];
        epoch[at] = old.epoch[i];
        nonce[at] = old.nonce[i];
        wal[at] = old.wal[i];
      }
    }
  }
}
