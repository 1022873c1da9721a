package io.gameq.redis;

import io.gameq.OwnerId;
import io.gameq.SessionId;
import java.util.Collection;
import java.util.Map;

/** Asks MySQL which session owns; the truth of which Redis holds a cache. Thread-safe. */
@FunctionalInterface
public interface DurableSessions {
  /** The newest session of each owner that has one; throws when MySQL does not answer. */
  Map<OwnerId, SessionId> current(Collection<OwnerId> owners);
}
