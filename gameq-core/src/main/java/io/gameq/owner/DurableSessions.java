package io.gameq.owner;

import java.util.Collection;
import java.util.Map;

/** Asks MySQL which session owns; the truth of which Redis holds a cache. Thread-safe. */
public interface DurableSessions {
  /** The sessions that count of each owner that has one; throws when MySQL does not answer. */
  Map<OwnerId, CountingSessions> current(Collection<OwnerId> owners);

  /**
   * The highest version that the session which was open next took over from this one; 0 for none,
   * and if that is not known any more.
   */
  long adoptedFrom(OwnerId owner, SessionId session);

  /**
   * Writes a session again that MySQL has lost with its newest commits: only over an older one.
   *
   * @return whether it is the newest now
   */
  boolean restore(OwnerId owner, SessionId session);
}
