package io.gameq.recovery.mysql;

import io.gameq.healing.DurableSessions;
import io.gameq.mysql.tables.OwnerTable;
import io.gameq.owner.CountingSessions;
import io.gameq.owner.OwnerId;
import io.gameq.owner.SessionId;
import java.util.Collection;
import java.util.Map;

/**
 * The durable sessions, by which it is told whether the rows that were committed together with
 * messages are there. Restores none: what of the rows is to be replayed was decided before.
 */
record SessionsForMessages(OwnerTable owners) implements DurableSessions {
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
    return false;
  }
}
