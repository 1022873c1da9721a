package io.gameq.recovery.plan;

import io.gameq.owner.SessionId;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The newest session of each owner that WALs know. Not thread-safe. */
public final class OwnerIndex {
  private final Map<RowHash.Key, Known> owners = new HashMap<>();

  /** A session and the WAL that it was found in. */
  record Newest(SessionId session, int wal) {}

  /** The same, in few bytes. */
  private record Known(long epoch, long nonce, int wal) {}

  /** Notes a session; {@code inWal} is the number of the WAL. */
  void note(RowHash owner, long epoch, long nonce, int inWal) {
    RowHash.Key key = owner.key();
    Known known = owners.get(key);
    if (known == null || Long.compareUnsigned(epoch, known.epoch) > 0) {
      owners.put(key, new Known(epoch, nonce, inWal));
    }
  }

  /** The newest session of an owner; null when it is not known. */
  @Nullable Newest find(RowHash owner) {
    Known known = owners.get(owner.key());
    return known == null
        ? null
        : new Newest(new SessionId(known.epoch, "%016x".formatted(known.nonce)), known.wal);
  }
}
