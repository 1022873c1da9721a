package io.gameq.healing;

import io.gameq.owner.DurableSessions;
import io.gameq.owner.DurableSessions.CountingSessions;
import io.gameq.owner.OwnerId;
import io.gameq.owner.SessionId;
import io.gameq.redis.RedisConnection;
import io.gameq.redis.SlotKeys;
import io.gameq.redis.script.LookupScript;
import io.gameq.redis.script.LookupScript.LookupResult;
import io.gameq.wal.WalRecord;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * What healing asks MySQL, since Redis is a cache of it: which session owns, and what became of the
 * half of a commit whose session has lost its owner, when Redis has lost it too: half a trade would
 * make something twice, or destroy it. Thread-safe.
 *
 * <p>The half is looked for with whoever owned its rows next: that session may have adopted it.
 * Redis holds the commits of a session in their order, so that who took over a row from it of the
 * commit's version, or of a later one, has the commit. A session that took nothing over, since all
 * rows were in MySQL by then, is told by a row in the very version.
 *
 * @param inMySql the versions that MySQL holds of rows
 */
public record DurableTruth(
    SlotKeys[] slots, DurableSessions sessions, Function<Set<String>, Map<String, Long>> inMySql) {
  /** How long other nodes that heal at the same time are waited for. */
  public static final long MOST_WAIT_NANOS = TimeUnit.SECONDS.toNanos(2);

  static final long ASK_EVERY_NANOS = TimeUnit.MILLISECONDS.toNanos(50);

  /** What is known of a half. */
  public enum Place {
    /** The session that owns now had adopted it: Redis or MySQL holds it, or its node's WAL. */
    THERE,
    /** The session that owns now may have adopted it: its node has not put back yet what it had. */
    MAY_COME,
    /** Nobody holds it, or only newer changes of its rows, which do not tell. */
    NOWHERE
  }

  /** Whether somebody holds it, once other nodes had time to put it back. */
  boolean isThere(@Nullable RedisConnection redis, WalRecord.Part half, long untilNanos) {
    while (true) {
      Place place = find(redis, half);
      if (place != Place.MAY_COME || System.nanoTime() - untilNanos >= 0) {
        return place == Place.THERE;
      }
      LockSupport.parkNanos(ASK_EVERY_NANOS);
    }
  }

  /**
   * What is known of a part of a WAL record. Asks Redis, then MySQL: what is no longer in Redis is
   * in MySQL by then.
   *
   * @param redis null when it is gone for good
   * @throws io.gameq.GameQueueException when one of them does not answer
   */
  Place find(@Nullable RedisConnection redis, WalRecord.Part half) {
    OwnerId owner = OwnerId.ofEncoded(half.owner());
    Map<String, Long> versions = new HashMap<>();
    half.rows().forEach(row -> versions.put(row.key(), row.version()));
    long newest = versions.values().stream().mapToLong(Long::longValue).max().orElse(0);
    if (sessions.adoptedFrom(owner, SessionId.parse(half.session())) >= newest) {
      return Place.THERE; // its node puts it back, if it has not yet
    }
    LookupResult looked =
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
    CountingSessions owning = sessions.current(List.of(owner)).get(owner);
    boolean isHeirs =
        owning != null && !owning.opening() && looked.ownedBy().equals(owning.newest().text());
    if (isHeirs && holdsOne(looked.versions(), versions)) {
      return Place.THERE;
    }
    return looked.isAllOfOwner(owning) ? Place.NOWHERE : Place.MAY_COME;
  }

  private static boolean holdsOne(Map<String, Long> held, Map<String, Long> versions) {
    return versions.entrySet().stream()
        .anyMatch(row -> row.getValue().equals(held.get(row.getKey())));
  }
}
