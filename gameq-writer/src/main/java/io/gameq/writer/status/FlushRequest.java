package io.gameq.writer.status;

import io.gameq.GameQueueException;
import io.gameq.change.VersionClock;
import io.gameq.mysql.MySqlPool.MySql;
import io.gameq.mysql.tables.AuditTable;
import io.gameq.mysql.tables.AuditTable.Actor;
import io.gameq.mysql.tables.OwnerTable;
import io.gameq.owner.DurableSessions.CountingSessions;
import io.gameq.owner.OwnerId;
import io.gameq.owner.SessionId;
import io.gameq.owner.SessionRef;
import io.gameq.redis.ControlConnection;
import io.gameq.redis.RedisClock;
import io.gameq.redis.RedisConnection;
import io.gameq.redis.SlotKeys;
import io.gameq.redis.Slots;
import io.gameq.redis.script.SessionScripts;
import io.gameq.redis.script.Waiting.WaitingOwners;
import io.gameq.terminal.Shown;
import io.gameq.writer.redis.DueSlots;
import io.gameq.writer.redis.RedisOwner;
import io.gameq.writer.redis.UnwrittenOwners;
import io.gameq.writer.redis.UnwrittenOwners.OwnerBacklog;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * Has what waits written at once instead of at the end of its merge windows, by command line or
 * console. Written into the audit log before it is done. It is the writers that write: what is
 * paused stays so. Used by one thread.
 */
public final class FlushRequest {
  /** Clocks of nodes follow that of Redis; what is committed so soon afterwards counts as well. */
  private static final long CLOCKS_MILLIS = 1_000;

  private final MySql mysql;
  private final ControlConnection redis;
  private final Slots slots;
  private final RedisClock clock = new RedisClock();

  public FlushRequest(MySql mysql, ControlConnection redis, Slots slots) {
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
      for (OwnerId inbox : redis.ask(of -> RedisOwner.inboxes(of, slots.of(owner), owner))) {
        SessionId session = SessionId.ofInbox(inbox.sender());
        sessions.add(new SessionRef(inbox, session, inbox.slot(slots.count())));
      }
    }
    SlotKeys[] all =
        IntStream.range(0, slots.count()).mapToObj(slots::get).toArray(SlotKeys[]::new);
    redis.call(
        connection -> {
          SessionScripts.flushNow(connection, all, sessions);
          return true;
        });
    return new OwnersProgress(
        redis,
        slots,
        newest,
        sessions.stream().map(of -> of.owner().encoded() + ":" + of.text()).toList());
  }

  /** Those that may have rows: the one that owns in Redis, and those that count in MySQL. */
  private Set<SessionId> sessions(OwnerId owner, @Nullable CountingSessions durable) {
    Set<SessionId> sessions = new LinkedHashSet<>();
    SessionId inRedis = redis.ask(of -> SessionScripts.session(of, slots.of(owner), owner));
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
    return new SlotsProgress(redis, slots, newest);
  }

  private long pullForward(RedisConnection connection, int slot) {
    long nowMillis = clock.getAsLong();
    return DueSlots.pullForward(connection, slots.get(slot), nowMillis, nowMillis);
  }

  private long newestThatCounts() {
    clock.measure(redis);
    return VersionClock.first(clock.getAsLong() + CLOCKS_MILLIS);
  }

  /** What was there when a flush was asked for and is not in MySQL yet. Used by one thread. */
  public interface FlushProgress {
    /**
     * What is left.
     *
     * @param isDone whether nothing is
     * @param text what is, in some words for who waits
     */
    record Remainder(boolean isDone, String text) {}

    /**
     * Looks again; some times a second is often enough.
     *
     * @throws io.gameq.GameQueueException when Redis does not answer; what was found stays found
     */
    Remainder look();

    /**
     * Owners with rows that are left, some of each slot: to tell from why they wait. Throws as
     * {@link #look}.
     */
    List<OwnerBacklog> some();
  }

  /** What of some owners is not in MySQL yet. */
  static final class OwnersProgress implements FlushProgress {
    private static final int MOST_ROWS = 1_000_000; // an owner has fewer: all are counted

    private final ControlConnection redis;
    private final long newest;
    private final Map<SlotKeys, List<String>> members = new LinkedHashMap<>();

    /**
     * Of these owners.
     *
     * @param newest the highest version that counts
     * @param members {@code owner:session}
     */
    OwnersProgress(ControlConnection redis, Slots slots, long newest, List<String> members) {
      this.redis = redis;
      this.newest = newest;
      this.members.putAll(
          slots.grouped(members, of -> OwnerId.ofEncoded(of.substring(0, of.lastIndexOf(':')))));
    }

    @Override
    public List<OwnerBacklog> some() {
      Map<OwnerId, OwnerBacklog> left = new LinkedHashMap<>(); // by several sessions the same rows
      members.forEach(
          (slot, all) -> {
            for (int from = 0; from < all.size(); from += WaitingOwners.MOST_AT_ONCE) {
              List<String> some =
                  all.subList(from, Math.min(all.size(), from + WaitingOwners.MOST_AT_ONCE));
              redis
                  .ask(of -> UnwrittenOwners.unwritten(of, slot, newest, MOST_ROWS, some))
                  .forEach(of -> left.putIfAbsent(of.owner(), of));
            }
          });
      return List.copyOf(left.values());
    }

    @Override
    public Remainder look() {
      List<OwnerBacklog> left = some();
      long rows = left.stream().mapToLong(OwnerBacklog::rows).sum();
      long claimed = left.stream().mapToLong(OwnerBacklog::claimed).sum();
      return new Remainder(
          left.isEmpty(),
          String.format(
              Locale.ROOT,
              "%s of %s, %,d of them claimed by a writer",
              Shown.count(rows, "row"),
              Shown.count(left.stream().map(of -> of.owner().base()).distinct().count(), "owner"),
              claimed));
    }
  }

  /**
   * What of all owners is not in MySQL yet: slot by slot, since all slots are written meanwhile,
   * and of a slot those who were found waiting. A slot is done when a fresh look at all who wait in
   * it finds nobody with rows that count.
   */
  static final class SlotsProgress implements FlushProgress {
    /** Of one look: whoever waits wants to be told meanwhile. */
    private static final long MOST_NANOS = TimeUnit.MILLISECONDS.toNanos(300);

    /** Of an owner, to tell from their tables why he waits. */
    private static final int MOST_ROWS = 1_000;

    private final ControlConnection redis;
    private final Slots slots;
    private final long newest;
    private int slot;
    private Set<String> waiting = Set.of();
    private boolean isFresh;

    /**
     * Of all slots.
     *
     * @param newest the highest version that counts
     */
    SlotsProgress(ControlConnection redis, Slots slots, long newest) {
      this.redis = redis;
      this.slots = slots;
      this.newest = newest;
    }

    @Override
    public Remainder look() {
      long began = System.nanoTime();
      boolean goesOn = true;
      while (slot < slots.count() && goesOn && System.nanoTime() - began < MOST_NANOS) {
        goesOn = step(slots.get(slot));
      }
      return new Remainder(
          slot == slots.count(),
          String.format(
              Locale.ROOT,
              "%,d of %s are written; in slot %d %s may wait",
              slot,
              Shown.count(slots.count(), "slot"),
              slot,
              Shown.count(waiting.size(), "owner")));
    }

    /** Looks at some owners of a slot; false when none of them has been written since. */
    private boolean step(SlotKeys of) {
      if (waiting.isEmpty()) {
        waiting = new LinkedHashSet<>(redis.ask(connection -> WaitingOwners.of(connection, of)));
        isFresh = true;
        if (waiting.isEmpty()) {
          slot++;
          return true;
        }
      }
      List<String> some = waiting.stream().limit(WaitingOwners.MOST_AT_ONCE).toList();
      List<OwnerBacklog> found =
          redis.ask(connection -> UnwrittenOwners.unwritten(connection, of, newest, 1, some));
      Set<String> left =
          found.stream().map(one -> one.owner().encoded()).collect(Collectors.toSet());
      Set<String> written = new HashSet<>(some);
      written.removeIf(one -> left.contains(one.substring(0, one.lastIndexOf(':'))));
      waiting.removeAll(written);
      if (!left.isEmpty()) {
        isFresh = false;
      } else if (waiting.isEmpty() && isFresh) {
        slot++;
      }
      return !written.isEmpty();
    }

    @Override
    public List<OwnerBacklog> some() {
      Set<OwnerBacklog> some = new LinkedHashSet<>(); // whoever is due and claimed comes twice
      for (int number = slot; number < slots.count(); number++) {
        SlotKeys of = slots.get(number);
        some.addAll(
            redis.ask(
                connection ->
                    UnwrittenOwners.unwritten(
                        connection, of, newest, MOST_ROWS, UnwrittenOwners.some(connection, of))));
      }
      return List.copyOf(some);
    }
  }
}
