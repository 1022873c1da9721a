package io.gameq;

import io.gameq.commit.CountingSessions;
import io.gameq.mysql.OwnerTable;
import io.gameq.redis.DurableSessions;
import java.util.Collection;
import java.util.Map;

/** The durable sessions, as the sender asks for them. Thread-safe. */
record MySqlSessions(OwnerTable owners) implements DurableSessions {
  @Override
  public Map<OwnerId, CountingSessions> current(Collection<OwnerId> of) {
    return owners.current(of);
  }

  @Override
  public long adopted(OwnerId owner) {
    return owners.adopted(owner);
  }

  @Override
  public boolean restore(OwnerId owner, SessionId session) {
    return owners.restore(owner, session);
  }
}
