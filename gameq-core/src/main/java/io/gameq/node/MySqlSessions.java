package io.gameq.node;

import io.gameq.healing.DurableSessions;
import io.gameq.mysql.tables.OwnerTable;
import io.gameq.owner.CountingSessions;
import io.gameq.owner.OwnerId;
import io.gameq.owner.SessionId;
import java.util.Collection;
import java.util.Map;

/** The durable sessions, as the sender asks for them. Thread-safe. */
record MySqlSessions(OwnerTable owners) implements DurableSessions {
  @Override
  public Map<OwnerId, CountingSessions> current(Collection<OwnerId> of) {
    return owners.current(of);
  }

  @Override
  public long adoptedFrom(OwnerId owner, SessionId session) {
    return owners.adoptedFrom(owner, session);
  }

  @Override
  public boolean restore(OwnerId owner, SessionId session) {
    return owners.restore(owner, session);
  }
}
