package io.gameq.node;

import io.gameq.owner.SessionId;
import io.gameq.rows.EncodedRow;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * The rows that an attempt to open had adopted when Redis lost its session, and perhaps the rows.
 * Immutable.
 */
public record LostAdoption(SessionId session, AdoptedRows rows) {
  /**
   * Those that Redis holds no more, or in older versions: the next attempt puts them back. None
   * when somebody opened the owner between the two attempts: that session has gone on without these
   * rows, and they are a conflict with it.
   */
  List<EncodedRow> missing(SessionId next, AdoptedRows there) {
    if (!isFollowedBy(next)) {
      return List.of();
    }
    Map<String, EncodedRow> held = new HashMap<>();
    there.all().forEach(row -> held.merge(row.key(), row, LostAdoption::newer));
    List<EncodedRow> missing = new ArrayList<>();
    for (EncodedRow row : rows.all()) {
      if (held.merge(row.key(), row, LostAdoption::newer).equals(row)) {
        missing.add(row);
      }
    }
    return missing;
  }

  /** Whether nobody opened the owner between this attempt and the next. */
  boolean isFollowedBy(SessionId next) {
    return next.epoch() == session.epoch() + 1;
  }

  /** The first when both are of one version. */
  private static EncodedRow newer(EncodedRow one, EncodedRow other) {
    return other.version() > one.version() ? other : one;
  }
}
