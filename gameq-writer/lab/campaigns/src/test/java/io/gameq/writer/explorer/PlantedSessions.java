package io.gameq.writer.explorer;

import io.gameq.mysql.tables.OwnerTable;
import io.gameq.owner.DurableSessions;
import io.gameq.owner.DurableSessions.CountingSessions;
import io.gameq.owner.OwnerId;
import io.gameq.owner.SessionId;
import io.gameq.owner.SessionRef;
import io.gameq.writer.explorer.Plant.Switch;
import java.util.Collection;
import java.util.HashMap;
import java.util.Map;

/**
 * The sessions in MySQL as healing asks for them, which pass the plant.
 *
 * @param held what a plant has a node take for its own
 */
record PlantedSessions(OwnerTable real, Plant plant, Collection<SessionRef> held)
    implements DurableSessions {
  @Override
  public Map<OwnerId, CountingSessions> current(Collection<OwnerId> owners) {
    Map<OwnerId, CountingSessions> sessions = new HashMap<>(real.current(owners));
    if (plant.has(Switch.HEALS_WITHOUT_MYSQL)) {
      held.forEach(ref -> sessions.put(ref.owner(), CountingSessions.open(ref.id())));
    }
    if (plant.has(Switch.ONLY_THE_NEWEST_HEALS)) {
      sessions.replaceAll((owner, of) -> CountingSessions.open(of.newest()));
    }
    return sessions;
  }

  @Override
  public long adoptedFrom(OwnerId owner, SessionId session) {
    return real.adoptedFrom(owner, session);
  }

  /** MySQL does not fail over here, so that it has every session. */
  @Override
  public boolean restore(OwnerId owner, SessionId session) {
    return false;
  }
}
