package io.gameq.mysql;

import io.gameq.DeadLetter;
import io.gameq.owner.OwnerId;
import java.sql.SQLException;
import java.util.Set;

/** A row that gameq refuses to write, since MySQL says that it is another owner's. */
public final class NotOwnerException extends SQLException {
  private static final long serialVersionUID = 1L;

  private final transient Set<OwnerId> awaited;

  private NotOwnerException(String message, int errorCode, Set<OwnerId> awaited) {
    super(message, "45000", errorCode);
    this.awaited = awaited;
  }

  public static NotOwnerException of(RowChange row, String owner) {
    return new NotOwnerException(
        "%s: the row belongs to %s, not to %s: only a move by its owner brings it here"
            .formatted(row.key(), owner, row.owner()),
        DeadLetter.NOT_OWNER,
        Set.of());
  }

  /** A row that was sent under a key that is in use. */
  public static NotOwnerException keyInUse(RowChange row) {
    return new NotOwnerException(
        "%s: there is a row with this key already, and what is sent to %s needs a new key"
            .formatted(row.key(), row.owner().base()),
        DeadLetter.KEY_IN_USE,
        Set.of());
  }

  public static NotOwnerException pending(RowChange row, Set<OwnerId> awaited, String why) {
    return new NotOwnerException(row.key() + ": " + why, DeadLetter.NOT_OWNER, awaited);
  }

  /**
   * The owners whose flush may yet make the row this one's, with their halves of the handovers that
   * it tells of; empty when it tells of none.
   */
  public Set<OwnerId> awaited() {
    return awaited;
  }

  /** Whether there are such owners. */
  public boolean isPending() {
    return !awaited.isEmpty();
  }
}
