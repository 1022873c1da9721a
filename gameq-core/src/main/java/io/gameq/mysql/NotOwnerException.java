package io.gameq.mysql;

import io.gameq.DeadLetter;
import java.sql.SQLException;

/** A row that gameq refuses to write, since MySQL says that it is another owner's. */
public final class NotOwnerException extends SQLException {
  private static final long serialVersionUID = 1L;

  private final boolean pending;

  private NotOwnerException(String message, boolean pending) {
    super(message, "45000", DeadLetter.NOT_OWNER);
    this.pending = pending;
  }

  static NotOwnerException of(RowChange row, String owner) {
    return new NotOwnerException(
        "%s: the row belongs to %s, not to %s: only a move by its owner brings it here"
            .formatted(row.key(), owner, row.owner()),
        false);
  }

  static NotOwnerException pending(RowChange row, String why) {
    return new NotOwnerException(row.key() + ": " + why, true);
  }

  /** Whether the flush of another owner may yet make the row this one's. */
  public boolean isPending() {
    return pending;
  }
}
