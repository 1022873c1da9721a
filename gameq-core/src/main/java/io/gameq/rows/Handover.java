package io.gameq.rows;

import io.gameq.owner.OwnerId;
import io.gameq.owner.SessionId;

/**
 * A move of a row between two owners, as one of them tells of it; immutable.
 *
 * @param received whether this owner got the row; else it gave the row away
 * @param other the other owner
 * @param session the other owner's session that took part in the commit
 * @param version of the row on both sides, unsigned; 0 for a commit that Redis refused, which says
 *     nothing
 */
public record Handover(boolean received, OwnerId other, SessionId session, long version) {
  /** What a row goes through between two flushes; of more, an image tells of the newest. */
  public static final int MOST = 16;

  /** Whether this is the same move, as the other owner tells of it. */
  public boolean isOtherSideOf(Handover its, OwnerId owner) {
    return received != its.received && version == its.version && other.equals(owner);
  }

  @Override
  public String toString() {
    return (received ? "received from " : "given to ") + other + " " + session;
  }
}
