package io.gameq;

import io.gameq.commit.CountingSessions;
import io.gameq.mysql.OwnerTable;
import io.gameq.redis.LookScript;
import io.gameq.redis.LookScript.Looked;
import io.gameq.redis.LostHalves;
import io.gameq.redis.SlotKeys;
import io.lettuce.core.api.StatefulRedisConnection;
import java.util.List;
import java.util.Map;

/**
 * Halves of commits that a session of another node has adopted. A session adopts all rows of a
 * commit or none, so that one of them in the very version of the commit proves it.
 */
record AdoptedHalves(SlotKeys[] slots, OwnerTable owners, OwnerViews views) implements LostHalves {
  @Override
  public Place find(
      StatefulRedisConnection<byte[], byte[]> redis, OwnerId owner, Map<String, Long> versions) {
    Looked looked =
        LookScript.call(redis, slots[owner.slot(slots.length)], owner, versions.keySet());
    Map<String, Long> inMySql = views.versions(versions.keySet());
    CountingSessions durable = owners.current(List.of(owner)).get(owner);
    SessionId heir = durable == null || durable.opening() ? null : durable.newest();
    boolean isHeirs = heir != null && looked.ownedBy().equals(heir.text());
    if ((isHeirs && holdsOne(looked.versions(), versions)) || holdsOne(inMySql, versions)) {
      return Place.THERE;
    }
    return heir != null && looked.isAllOf(heir) ? Place.NOWHERE : Place.MAY_COME;
  }

  private static boolean holdsOne(Map<String, Long> held, Map<String, Long> versions) {
    return versions.entrySet().stream()
        .anyMatch(row -> row.getValue().equals(held.get(row.getKey())));
  }
}
