package io.gameq.upkeep;

import io.gameq.GameQueueConfig;
import io.gameq.GameQueueException;
import io.gameq.MySqlException;
import io.gameq.RedisUnavailableException;
import io.gameq.agent.AgentRunner.Agent;
import io.gameq.agent.Duty;
import io.gameq.change.VersionClock;
import io.gameq.commit.CommitSender;
import io.gameq.commit.RecentMessages;
import io.gameq.commit.SenderWal;
import io.gameq.durability.Callbacks;
import io.gameq.durability.DurableTracker;
import io.gameq.durability.NodeSessions;
import io.gameq.log.RepeatedWarnings;
import io.gameq.mysql.tables.OwnerTable;
import io.gameq.owner.DurableSessions.CountingSessions;
import io.gameq.owner.DurableSessions.OwnerId;
import io.gameq.owner.DurableSessions.SessionId;
import io.gameq.owner.SessionRef;
import io.gameq.redis.ControlConnection;
import io.gameq.redis.DurableNotices;
import io.gameq.redis.PrimaryConnector;
import io.gameq.redis.RedisClock;
import io.gameq.redis.RedisServerCheck.EvictionWatch;
import io.gameq.redis.SlotKeys;
import io.gameq.redis.script.LookupScript;
import io.gameq.redis.script.LookupScript.Looked;
import io.gameq.redis.script.SessionScripts;
import io.gameq.view.OwnerViews;
import io.gameq.wal.WalWriter;
import io.gameq.wal.WalWriter.WalNeeds;
import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What a node looks after in the background: rows that are in MySQL though the notice was lost,
 * rows that nobody holds any more, WAL records that nothing needs, and what Redis is to know. Its
 * duties run on one thread; {@link #hadConflicts} is for any.
 */
public final class NodeUpkeep {
  private static final Duration SECOND = Duration.ofSeconds(1);
  private static final Duration CLOCK_EVERY = Duration.ofSeconds(60);

  /** Only a lost notice waits for it. */
  private static final Duration TAKEN_OVER_EVERY = Duration.ofSeconds(5);

  /** A full disk is not asked every second. */
  private static final Duration RETAIN_EVERY = Duration.ofSeconds(10);

  /** Beyond the merge window: a flush and its notice take no longer, as a rule. */
  private static final Duration FLUSH_TIME = Duration.ofSeconds(3);

  private final Servers servers;
  private final Node node;
  private final RepeatAfterHealing afterHealing;
  private final SentRowsTelling sent;
  private final ConflictReports conflicts;
  private final UnnoticedRows unnoticed;
  private final MissingRows missing;
  private final GivenUpRows givenUp;
  private final TakenOverSessions takenOver;
  private final EvictionWatch eviction = new EvictionWatch();

  private volatile long oldestMillis;

  private volatile boolean mysqlAnswers = true;

  /** What it asks and tells. */
  public record Servers(
      SlotKeys[] slots,
      ControlConnection control,
      PrimaryConnector primary,
      RedisClock clock,
      DurableNotices notices,
      OwnerTable owners,
      OwnerViews views) {}

  /** What of its own node it looks after. */
  public record Node(
      NodeSessions sessions,
      ClosedSessionNotices closed,
      CommitSender sender,
      SenderWal to,
      Callbacks callbacks) {
    WalWriter wal() {
      return to.wal();
    }

    RecentMessages recent() {
      return to.recent();
    }
  }

  public NodeUpkeep(
      GameQueueConfig config,
      Servers servers,
      Node node,
      RepeatAfterHealing afterHealing,
      SentRowsTelling sent) {
    this.servers = servers;
    this.node = node;
    this.afterHealing = afterHealing;
    this.sent = sent;
    NodeSessions sessions = node.sessions();
    long quietNanos = config.mergeWindow().plus(FLUSH_TIME).toNanos();
    conflicts =
        new ConflictReports(
            sessions, node.callbacks(), config.onConflict(), node.wal().directory());
    RowSearch search =
        new RowSearch(servers.control(), servers.slots(), servers.owners(), servers.views());
    unnoticed = new UnnoticedRows(sessions, servers.views(), quietNanos);
    missing =
        new MissingRows(
            sessions,
            search,
            conflicts,
            node.sender()::healAgain,
            new MissingRows.Waits(quietNanos, config.maxConflictWait().toNanos()));
    givenUp = new GivenUpRows(sessions, search, conflicts);
    takenOver = new TakenOverSessions(sessions, servers.control(), servers.slots());
  }

  /** In the order of a round. */
  public List<Agent> duties() {
    return List.of(
        everySecond("look which Redis primary counts", this::followTerm),
        afterHealing,
        sent,
        everySecond("tell Redis of closed sessions", node.closed()::tell),
        everySecond("look whether Redis evicts", this::watchEviction),
        everySecond("listen to what is in MySQL", servers.notices()::keepSubscribed),
        Duty.every(TAKEN_OVER_EVERY, "look for sessions that were taken over", takenOver::tell),
        everySecond("look for missing tables", servers.views()::lookForMissingTables),
        Duty.every(CLOCK_EVERY, "measure the clock of Redis", this::measureClock),
        everySecond("ask for rows that no notice will tell of", unnoticed::settle),
        everySecond("look for rows of which no notice came", missing::lookForSome),
        everySecond("report rows that are not replayed", givenUp::report),
        everySecond("let go of closed sessions", this::forgetDrained),
        Duty.every(RETAIN_EVERY, "remove WAL files that nothing needs", this::retain));
  }

  private static Agent everySecond(String name, Runnable work) {
    return Duty.every(SECOND, name, work);
  }

  /** Whether rows were reported as lost: then the WAL is the only place that has them. */
  public boolean hadConflicts() {
    return conflicts.hasReported();
  }

  /**
   * How long the oldest change waited that was not known to be in MySQL, at the last look, ms, 1 at
   * least; 0 when there was none.
   */
  public long oldestMillis() {
    return oldestMillis;
  }

  /** Looks for the oldest change anew; for any thread. */
  public void noteOldest() {
    long oldest = node.sessions().oldestVersion();
    oldestMillis =
        oldest == Long.MAX_VALUE
            ? 0
            : Math.max(1, servers.clock().getAsLong() - VersionClock.millis(oldest));
  }

  /** Whether MySQL answered when it was asked last. */
  public boolean mysqlAnswers() {
    return mysqlAnswers;
  }

  /** A node leaves a primary that was demoted within a second or so, whatever it still answers. */
  private void followTerm() {
    try {
      node.sender().followTerm();
      mysqlAnswers |= node.sender().isHealed(); // else it was not asked
    } catch (MySqlException e) {
      mysqlAnswers = false;
      throw e;
    }
    node.sender().takeAlong(servers.control());
    servers.primary().giveSign(servers.control());
  }

  private void watchEviction() {
    boolean unused = eviction.mayEvict(servers.control());
  }

  private void measureClock() {
    servers.clock().measure(servers.control());
  }

  private void forgetDrained() {
    node.sessions().forgetDrained(node.sender()::unregister);
  }

  private void retain() {
    noteOldest();
    if (node.sender().hasDied()) {
      return; // what nobody will answer is left to recovery
    }
    long from = node.wal().newestFileFrom(); // whatever is older is known to its tracker by now
    WalNeeds rows = node.sessions().needed(node.recent().openUpTo(from));
    node.wal().retain(new WalNeeds(rows.from(), rows.records(), node.recent().keptFrom()));
  }

  /**
   * Asks Redis for sessions that another one took over though the notice of it was lost: only for
   * those whose game waits to be told. One thread.
   */
  static final class TakenOverSessions {
    private final NodeSessions sessions;
    private final ControlConnection redis;
    private final SlotKeys[] slots;

    TakenOverSessions(NodeSessions sessions, ControlConnection redis, SlotKeys[] slots) {
      this.sessions = sessions;
      this.redis = redis;
      this.slots = slots;
    }

    /** One MGET for each 500 sessions of a slot. */
    void tell() {
      Map<Integer, List<DurableTracker>> bySlot =
          sessions.all().stream()
              .filter(of -> of.news().isLossAwaited() && sessions.isOpen(of))
              .collect(Collectors.groupingBy(of -> of.session().slot()));
      bySlot.forEach(
          (slot, awaited) -> {
            List<OwnerId> owners = awaited.stream().map(of -> of.session().owner()).toList();
            Map<OwnerId, SessionId> owns =
                redis.ask(connection -> SessionScripts.sessions(connection, slots[slot], owners));
            for (DurableTracker of : awaited) {
              SessionId now = owns.get(of.session().owner());
              if (now != null && now.isNewerThan(of.session().id()) && sessions.isOpen(of)) {
                of.news().tellLost();
              }
            }
          });
    }
  }

  /**
   * Reports the rows that a healing did not replay though their session owns. Nobody else may put
   * them back, but for a writer that had claimed them before Redis lost them. Used by the upkeep's
   * thread.
   */
  static final class GivenUpRows {
    /** A writer that claimed a row before Redis lost it begins its flush well within that. */
    private static final long CLAIM_GRACE_NANOS = TimeUnit.SECONDS.toNanos(10);

    private final NodeSessions sessions;
    private final RowSearch search;
    private final ConflictReports conflicts;

    GivenUpRows(NodeSessions sessions, RowSearch search, ConflictReports conflicts) {
      this.sessions = sessions;
      this.search = search;
      this.conflicts = conflicts;
    }

    void report() {
      sessions.all().forEach(this::report);
    }

    private void report(DurableTracker tracker) {
      SortedMap<String, Long> givenUp = tracker.givenUp(CLAIM_GRACE_NANOS);
      if (givenUp.isEmpty() || tracker.session().isLost()) { // of a lost one MissingRows reports
        return;
      }
      RowSearch.Found found = search.everywhere(tracker.session(), givenUp.keySet());
      found.tell(tracker);
      SortedMap<String, Long> missing = found.withoutHeld(tracker.givenUp(CLAIM_GRACE_NANOS));
      if (!missing.isEmpty()) {
        conflicts.report(
            tracker,
            missing,
            "the other half of the commit is lost, another handler has ended the message that it"
                + " acknowledges, or the WAL cannot give it back",
            false,
            found);
      }
    }
  }

  /**
   * Asks MySQL about rows of which no notice will tell, those of many sessions at once. Used by the
   * upkeep's thread.
   */
  static final class UnnoticedRows {
    /** Enough for a healing of thousands of sessions to settle within seconds. */
    private static final int MOST_ROWS_ASKED = 5_000;

    private final NodeSessions sessions;
    private final OwnerViews views;
    private final long everyNanos;

    /** Asks about the rows of one session every so often. */
    UnnoticedRows(NodeSessions sessions, OwnerViews views, long everyNanos) {
      this.sessions = sessions;
      this.views = views;
      this.everyNanos = everyNanos;
    }

    void settle() {
      Map<DurableTracker, Set<String>> asked = new HashMap<>();
      Set<String> rows = new HashSet<>();
      for (DurableTracker tracker : sessions.all()) {
        if (rows.size() >= MOST_ROWS_ASKED) {
          break;
        }
        Set<String> overtaken = tracker.overtakenRows(everyNanos);
        if (!overtaken.isEmpty()) {
          asked.put(tracker, overtaken);
          rows.addAll(overtaken);
        }
      }
      if (!rows.isEmpty()) {
        Map<String, Long> there = views.versions(rows);
        Map<OwnerId, Map<String, Long>> setAside = views.setAside(rows);
        asked.forEach(
            (tracker, of) -> tracker.found(only(of, there), only(of, its(setAside, tracker))));
      }
    }

    private static Map<String, Long> its(
        Map<OwnerId, Map<String, Long>> setAside, DurableTracker tracker) {
      return setAside.getOrDefault(tracker.session().owner().base(), Map.of());
    }

    private static Map<String, Long> only(Set<String> keys, Map<String, Long> versions) {
      Map<String, Long> of = new HashMap<>(versions);
      of.keySet().retainAll(keys);
      return of;
    }
  }

  /**
   * Asks Redis and MySQL which rows of a session they hold, and in which version. Every method
   * throws GameQueueException when the server that it asks does not answer. Thread-safe.
   */
  static final class RowSearch {
    private final ControlConnection control;
    private final SlotKeys[] slots;
    private final OwnerTable owners;
    private final OwnerViews views;

    RowSearch(ControlConnection control, SlotKeys[] slots, OwnerTable owners, OwnerViews views) {
      this.control = control;
      this.slots = slots;
      this.owners = owners;
      this.views = views;
    }

    /** What Redis and MySQL hold of rows of one owner. */
    record Found(Looked redis, OwnerViews.Settled mysql) {
      /** Settles what is in MySQL. */
      void tell(DurableTracker tracker) {
        tracker.found(mysql.versions(), mysql.setAside());
      }

      /** The rows given without those that Redis holds in that version. */
      SortedMap<String, Long> withoutHeld(SortedMap<String, Long> rows) {
        rows.entrySet()
            .removeIf(row -> row.getValue() <= redis.versions().getOrDefault(row.getKey(), -1L));
        return rows;
      }
    }

    /** Whether Redis holds no row of this session, neither dirty nor claimed. */
    boolean holdsNothing(SessionRef session) {
      return LookupScript.holdsNothing(
          control.get(), slots[session.slot()], session.owner(), session.id());
    }

    Looked inRedis(SessionRef session, Set<String> rows) {
      return LookupScript.look(control.get(), slots[session.slot()], session.owner(), rows);
    }

    /** Settles those of these rows that MySQL holds or has set aside. */
    void settle(DurableTracker tracker, Set<String> rows) {
      tracker.found(
          views.versions(rows),
          views.setAside(rows).getOrDefault(tracker.session().owner().base(), Map.of()));
    }

    /** Redis first: what is gone from there is in MySQL by then. */
    Found everywhere(SessionRef session, Set<String> rows) {
      return new Found(inRedis(session, rows), views.settled(session.owner().base(), rows));
    }

    /** Whether the session still owns its owner in MySQL. */
    boolean stillOwns(SessionRef session) {
      if (session.isLost()) {
        return false;
      }
      CountingSessions durable = owners.current(Set.of(session.owner())).get(session.owner());
      return session.id().isNewerThan(durable == null ? null : durable.newest())
          || CountingSessions.counts(durable, session.id());
    }
  }

  /**
   * After the sender has healed, repeats what an old Redis server may keep to itself: it may still
   * hold the subscription to notices, and nobody publishes there; and sessions that were
   * re-asserted are to end again. The upkeep's thread does the work; {@link #healed} is for any
   * thread.
   */
  public static final class RepeatAfterHealing implements Agent {
    private final DurableNotices notices;
    private final ClosedSessionNotices closed;
    private final NodeSessions sessions;
    private final SentRowsTelling sent;
    private final Runnable wake;
    private volatile boolean isDue;

    /** Wakes whoever runs it when it has work. */
    public RepeatAfterHealing(
        DurableNotices notices,
        ClosedSessionNotices closed,
        NodeSessions sessions,
        SentRowsTelling sent,
        Runnable wake) {
      this.notices = notices;
      this.closed = closed;
      this.sessions = sessions;
      this.sent = sent;
      this.wake = wake;
    }

    /** The sender has healed. */
    public void healed() {
      isDue = true;
      wake.run();
    }

    @Override
    public String name() {
      return "repeat after a healing what Redis is to know";
    }

    @Override
    public int doWork() {
      if (!isDue) {
        return 0;
      }
      isDue = false; // first: the next healing may end at this moment
      notices.close(); // the upkeep subscribes again
      closed.tellAgain();
      sessions.closed().stream()
          .filter(tracker -> !tracker.session().isInbox())
          .forEach(tracker -> closed.add(tracker.session(), tracker::isQueued));
      sent.lookAll();
      return 1;
    }

    @Override
    public long idleNanos() {
      return isDue ? 0 : Long.MAX_VALUE;
    }
  }

  /**
   * Tells Redis of sessions that were closed, or whose open failed, so that their owners do not
   * look taken. Thread-safe.
   *
   * <p>While Redis does not answer they wait here; a process that is killed meanwhile tells nobody,
   * and its owners look taken until its sign of life has expired.
   */
  public static final class ClosedSessionNotices {
    /** Longer than a replica that may be promoted lags behind. */
    private static final long KEPT_NANOS = TimeUnit.MINUTES.toNanos(2);

    private static final Logger LOG = LoggerFactory.getLogger(ClosedSessionNotices.class);

    private final Predicate<SessionRef> tell;
    private final RepeatedWarnings complaints = new RepeatedWarnings(60);
    private final Map<SessionRef, BooleanSupplier> untold = new ConcurrentHashMap<>();
    private final Map<SessionRef, Long> lateUntilNanos = new ConcurrentHashMap<>();
    private final Map<SessionRef, Long> toldNanos = new ConcurrentHashMap<>();

    /**
     * With a way to tell.
     *
     * @param tell false when another session owns as far as Redis knows; throws {@link
     *     RedisUnavailableException} when Redis does not answer
     */
    public ClosedSessionNotices(Predicate<SessionRef> tell) {
      this.tell = tell;
    }

    /** It is to be told of a session once Redis has all of its commits. */
    public void add(SessionRef session, BooleanSupplier isQueued) {
      untold.put(session, isQueued);
    }

    /**
     * The same of a session whose open failed: Redis may yet learn of it, by a request that is late
     * or by a writer, so it is told for some time.
     */
    public void addFailed(SessionRef session) {
      lateUntilNanos.put(session, System.nanoTime() + KEPT_NANOS);
      add(session, () -> true);
    }

    /** Redis may have forgotten what it was told lately. */
    void tellAgain() {
      toldNanos.keySet().forEach(session -> untold.put(session, () -> true));
    }

    /** Tells it of those that it was not told of; to be called every second or so. */
    public void tell() {
      long now = System.nanoTime();
      toldNanos.values().removeIf(told -> now - told > KEPT_NANOS);
      lateUntilNanos.values().removeIf(until -> now - until > 0);
      for (Map.Entry<SessionRef, BooleanSupplier> one : untold.entrySet()) {
        if (one.getValue().getAsBoolean() && !tell(one.getKey())) {
          return;
        }
      }
    }

    /** Tells it of one that it was not told of; false when Redis does not answer. */
    public boolean tell(SessionRef session) {
      try {
        if (!tell.test(session) && lateUntilNanos.containsKey(session)) {
          return true;
        }
      } catch (RedisUnavailableException e) {
        LOG.debug("Redis is not told yet that session {} is closed: {}", session, e.getMessage());
        return false;
      } catch (GameQueueException e) { // its keys are broken, or this is no primary just now
        complaints.about(
            "untold",
            LOG::warn,
            () ->
                "cannot tell Redis that session %s is closed: %s"
                    .formatted(session, e.getMessage()));
        return true;
      }
      untold.remove(session);
      toldNanos.put(session, System.nanoTime());
      return true;
    }
  }
}
