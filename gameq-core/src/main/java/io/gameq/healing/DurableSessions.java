package io.gameq.healing;

import io.gameq.owner.CountingSessions;
import io.gameq.owner.OwnerId;
import io.gameq.owner.SessionId;
import java.util.Collection;
import java.util.Map;

/** Asks MySQL which session owns; the truth of which Redis holds a cache. Thread-safe. */
public interface DurableSessions {
  /** The sessions that count of each owner that has one; throws when MySQL does not answer. */
  Map<OwnerId, CountingSessions> current(Collection<OwnerId> owners);

  /**
   * The highest version that the owner's newest session took over from Redis when it was opened; 0
   * for none, and of one that is not open.
   */
  long adopted(OwnerId owner);

  /**
   * Writes a session again that MySQL has lost with its newest commits: only over an older one.
   *
   * @return whether it is the newest now
   */
  boolean restore(OwnerId owner, SessionId session);
}
