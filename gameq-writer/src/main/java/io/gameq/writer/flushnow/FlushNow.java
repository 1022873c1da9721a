package io.gameq.writer.flushnow;

import io.gameq.GameQueueException;
import io.gameq.change.VersionClock;
import io.gameq.mysql.MySql;
import io.gameq.mysql.tables.AuditTable;
import io.gameq.mysql.tables.AuditTable.Actor;
import io.gameq.mysql.tables.OwnerTable;
import io.gameq.owner.CountingSessions;
import io.gameq.owner.OwnerId;
import io.gameq.owner.SessionId;
import io.gameq.owner.SessionRef;
import io.gameq.redis.ControlConnection;
import io.gameq.redis.RedisClock;
import io.gameq.redis.RedisConnection;
import io.gameq.redis.SlotKeys;
import io.gameq.redis.Slots;
import io.gameq.redis.script.DueSessions;
import io.gameq.redis.script.OwnKey;
import io.gameq.redis.script.OwnerInRedis;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * Has what waits written at once instead of at the end of its merge windows, by command line or
 * console. Written into the audit log before it is done. It is the writers that write: what is
 * paused stays so. Used by one thread.
 */
public final class FlushNow {
  /** Clocks of nodes follow that of Redis; what is committed so soon afterwards counts as well. */
  private static final long CLOCKS_MILLIS = 1_000;

  private final MySql mysql;
  private final ControlConnection redis;
  private final Slots slots;
  private final RedisClock clock = new RedisClock();

  public FlushNow(MySql mysql, ControlConnection redis, Slots slots) {
    this.mysql = mysql;
    this.redis = redis;
    this.slots = slots;
  }

  /**
   * Makes due what some owners have dirty, and what was sent to them. Returns what of it is not
   * written yet.
   *
   * @throws GameQueueException when a server does not answer, or Redis refuses; some may be due by
   *     then
   */
  public FlushProgress owners(Actor actor, List<OwnerId> owners) {
    for (OwnerId owner : owners) {
      AuditTable.add(mysql, actor, "flush", owner.id(), "");
    }
    long newest = newestThatCounts();
    Map<OwnerId, CountingSessions> durable = new OwnerTable(mysql).current(owners);
    List<SessionRef> sessions = new ArrayList<>();
    for (OwnerId owner : owners) {
      for (SessionId session : sessions(owner, durable.get(owner))) {
        sessions.add(new SessionRef(owner, session, owner.slot(slots.count())));
      }
      for (OwnerId inbox : redis.ask(of -> OwnerInRedis.inboxes(of, slots.of(owner), owner))) {
        SessionId session = SessionId.ofInbox(inbox.sender());
        sessions.add(new SessionRef(inbox, session, inbox.slot(slots.count())));
      }
    }
    SlotKeys[] all =
        IntStream.range(0, slots.count()).mapToObj(slots::get).toArray(SlotKeys[]::new);
    redis.call(
        connection -> {
          DueSessions.flushNow(connection, all, sessions);
          return true;
        });
    return new OwnersLeft(
        redis,
        slots,
        newest,
        sessions.stream().map(of -> of.owner().encoded() + ":" + of.text()).toList());
  }

  /** Those that may have rows: the one that owns in Redis, and those that count in MySQL. */
  private Set<SessionId> sessions(OwnerId owner, @Nullable CountingSessions durable) {
    Set<SessionId> sessions = new LinkedHashSet<>();
    SessionId inRedis = redis.ask(of -> OwnKey.session(of, slots.of(owner), owner));
    if (inRedis != null) {
      sessions.add(inRedis);
    }
    if (durable != null) {
      sessions.add(durable.newest());
      if (durable.before() != null) {
        sessions.add(durable.before());
      }
    }
    return sessions;
  }

  /**
   * Makes due what all have dirty, behind those who have been due for longer. Returns what of it is
   * not written yet.
   *
   * @throws GameQueueException as {@link #owners} does
   */
  public FlushProgress all(Actor actor) {
    AuditTable.add(mysql, actor, "flush", "all", "");
    long newest = newestThatCounts();
    for (int slot = 0; slot < slots.count(); slot++) {
      int number = slot;
      long unused = redis.call(of -> pullForward(of, number));
    }
    return new SlotsLeft(redis, slots, newest);
  }

  private long pullForward(RedisConnection connection, int slot) {
    long nowMillis = clock.getAsLong();
    return DueSessions.pullForward(connection, slots.get(slot), nowMillis, nowMillis);
  }

  private long newestThatCounts() {
    clock.measure(redis);
    return VersionClock.first(clock.getAsLong() + CLOCKS_MILLIS);
  }
}
