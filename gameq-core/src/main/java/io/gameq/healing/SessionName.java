package io.gameq.healing;

import io.gameq.owner.SessionRef;

/** A session as WAL records name it: the owner's encoded id, and the session's text form. */
public record SessionName(String owner, String session) {
  /** The name of a session. */
  public static SessionName of(SessionRef session) {
    return new SessionName(session.owner().encoded(), session.text());
  }
}
