package io.gameq.mysql;

import io.gameq.OwnerId;
import io.gameq.SessionId;
import org.jdbi.v3.core.Jdbi;

/** The last statement of open as a step of its own, for tests elsewhere. */
public final class OpenMark {
  private OpenMark() {}

  /** Sets the session's state to open; false when it is not the newest any more. */
  public static boolean set(Jdbi jdbi, OwnerId owner, SessionId session) {
    return Asking.mysql(
        () -> jdbi.withHandle(handle -> OwnerTable.markOpen(handle, owner, session)));
  }
}
