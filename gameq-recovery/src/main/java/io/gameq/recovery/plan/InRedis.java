package io.gameq.recovery.plan;

import io.gameq.owner.SessionId;
import io.gameq.recovery.wal.Versions;
import io.gameq.redis.script.LookupScript.Found;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What Redis holds of a row.
 *
 * @param ownedBy the session that owns as far as Redis knows; null when it knows none
 * @param sessions that were asked about
 * @param found as whole rows or as versions only; dirty in the order of {@code sessions}
 */
record InRedis(@Nullable SessionId ownedBy, List<SessionId> sessions, Found found) {
  private static final byte[] EMPTY = {};

  /** When Redis is gone for good. */
  static final InRedis NOTHING = new InRedis(null, List.of(), new Found(EMPTY, List.of(), EMPTY));

  /** The newest that Redis holds of the row, empty for nothing. */
  byte[] newest() {
    byte[] best = found.claimed();
    for (byte[] row : found.dirty()) {
      best = Versions.ofText(row) > Versions.ofText(best) ? row : best;
    }
    return Versions.ofText(found.owned()) > Versions.ofText(best) ? found.owned() : best;
  }

  boolean isClaimed(long version) {
    return covers(found.claimed(), version);
  }

  /** Under the session that owns. */
  boolean isDirtyOfOwner(long version) {
    return covers(found.owned(), version);
  }

  /** Under this session, if it was asked about. */
  boolean isDirtyOf(SessionId session, long version) {
    int at = sessions.indexOf(session);
    return at >= 0 && covers(found.dirty().get(at), version);
  }

  /** Under any session that was asked about. */
  boolean isDirty(long version) {
    return found.dirty().stream().anyMatch(row -> covers(row, version));
  }

  private static boolean covers(byte[] row, long version) {
    return Long.compareUnsigned(Versions.ofText(row), version) >= 0 && row.length > 0;
  }
}
