package io.gameq.healing;

import io.gameq.owner.CountingSessions;
import io.gameq.owner.DurableSessions;
import io.gameq.owner.OwnerId;
import io.gameq.owner.SessionId;
import io.gameq.redis.RedisConnection;
import io.gameq.redis.SlotKeys;
import io.gameq.redis.script.LookupScript;
import io.gameq.redis.script.LookupScript.Looked;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Looks for the lost half of a trade with whoever owned its rows next: that session may have
 * adopted it. Redis holds the commits of a session in their order, so that who took over a row from
 * it of the commit's version, or of a later one, has the commit. A session that took nothing over,
 * since all rows were in MySQL by then, is told by a row in the very version. Thread-safe.
 *
 * @param inMySql the versions that MySQL holds of rows
 */
public record AdoptedHalves(
    SlotKeys[] slots,
    DurableSessions durableSessions,
    Function<Set<String>, Map<String, Long>> inMySql)
    implements LostHalves {
  @Override
  public Place find(
      @Nullable RedisConnection redis, OwnerId owner, SessionId lost, Map<String, Long> versions) {
    long newest = versions.values().stream().mapToLong(Long::longValue).max().orElse(0);
    if (durableSessions.adoptedFrom(owner, lost) >= newest) {
      return Place.THERE; // its node puts it back, if it has not yet
    }
    Looked looked =
        redis == null
            ? null
            : LookupScript.look(redis, slots[owner.slot(slots.length)], owner, versions.keySet());
    Map<String, Long> durable = inMySql.apply(versions.keySet());
    if (holdsOne(durable, versions)) {
      return Place.THERE;
    }
    if (looked == null) {
      return Place.NOWHERE;
    }
    CountingSessions sessions = durableSessions.current(List.of(owner)).get(owner);
    boolean isHeirs =
        sessions != null
            && !sessions.opening()
            && looked.ownedBy().equals(sessions.newest().text());
    if (isHeirs && holdsOne(looked.versions(), versions)) {
      return Place.THERE;
    }
    return looked.isAllOfOwner(sessions) ? Place.NOWHERE : Place.MAY_COME;
  }

  private static boolean holdsOne(Map<String, Long> held, Map<String, Long> versions) {
    return versions.entrySet().stream()
        .anyMatch(row -> row.getValue().equals(held.get(row.getKey())));
  }
}
