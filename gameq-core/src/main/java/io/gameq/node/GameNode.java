package io.gameq.node;

import io.gameq.GameQueueConfig;
import io.gameq.GameQueueException;
import io.gameq.Limits;
import io.gameq.OwnerHeldException;
import io.gameq.OwnershipLostException;
import io.gameq.RedisUnavailableException;
import io.gameq.Takeover;
import io.gameq.agent.AgentRunner;
import io.gameq.agent.DaemonThreads;
import io.gameq.agent.Duty;
import io.gameq.change.ChangedRow;
import io.gameq.change.Commit;
import io.gameq.change.CommitPart;
import io.gameq.change.VersionClock;
import io.gameq.commit.CommitSender;
import io.gameq.commit.SenderConfig;
import io.gameq.commit.SenderEvents;
import io.gameq.commit.SenderRedis;
import io.gameq.commit.SenderWal;
import io.gameq.durability.Callbacks;
import io.gameq.durability.DurableTracker;
import io.gameq.durability.NodeSessions;
import io.gameq.durability.PendingHandovers;
import io.gameq.healing.AdoptedHalves;
import io.gameq.healing.DurableTruth;
import io.gameq.mysql.MySql;
import io.gameq.mysql.MySqlConfig;
import io.gameq.mysql.MySqlPool;
import io.gameq.mysql.MySqlServerCheck;
import io.gameq.mysql.schema.CatalogReader;
import io.gameq.mysql.schema.LayoutTable;
import io.gameq.mysql.schema.Settings;
import io.gameq.mysql.tables.OwnerReader;
import io.gameq.mysql.tables.OwnerTable;
import io.gameq.mysql.tables.TermTable;
import io.gameq.owner.CountingSessions;
import io.gameq.owner.OwnerId;
import io.gameq.owner.PercentEncoding;
import io.gameq.owner.SessionId;
import io.gameq.owner.SessionRef;
import io.gameq.redis.ControlConnection;
import io.gameq.redis.DurableNotices;
import io.gameq.redis.PrimaryConnector;
import io.gameq.redis.RedisClock;
import io.gameq.redis.RedisConfig;
import io.gameq.redis.RedisConnector;
import io.gameq.redis.SlotKeys;
import io.gameq.redis.UnflushedRow;
import io.gameq.redis.script.CloseScript;
import io.gameq.redis.script.DueSessions;
import io.gameq.redis.script.JournalMarks;
import io.gameq.redis.script.LostRows;
import io.gameq.redis.script.NodeHeartbeat;
import io.gameq.redis.script.OpenOwners;
import io.gameq.redis.script.OpenScript;
import io.gameq.redis.script.OwnKey;
import io.gameq.redis.script.ReadScript;
import io.gameq.rows.Catalog;
import io.gameq.rows.CurrentCatalog;
import io.gameq.rows.RowCodec;
import io.gameq.rows.Table;
import io.gameq.term.Term;
import io.gameq.term.TermMovedException;
import io.gameq.upkeep.ClosedSessionNotices;
import io.gameq.upkeep.NodeUpkeep;
import io.gameq.upkeep.RepeatAfterHealing;
import io.gameq.view.GameTables;
import io.gameq.view.OwnerView;
import io.gameq.view.OwnerViews;
import io.gameq.wal.WalRecord;
import io.gameq.wal.WalWriter;
import java.security.SecureRandom;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The running parts of a node and the steps of open, read and close. Thread-safe. */
final class GameNode implements AutoCloseable {
  private static final int MOST_ASIDES = 1_000;

  private static final int MOST_CLOSES = 8;

  private static final Logger LOG = LoggerFactory.getLogger(GameNode.class);

  /**
   * A Redis that is ahead of MySQL's epochs (after a MySQL failover) is caught up with in one
   * attempt; more means a race.
   */
  private static final int MOST_OPEN_ATTEMPTS = 3;

  private static final Duration BEAT_EVERY = Duration.ofSeconds(1);

  private static final long LOOK_EVERY_MILLIS = 1_000;

  /** What waits for Redis may still be sent, though nobody waits for the close. */
  private static final long LEAST_CLOSE_MILLIS = 10_000;

  private final GameQueueConfig config;
  private final String process = "%08x".formatted(new SecureRandom().nextInt());
  private final SecureRandom random = new SecureRandom();
  private final Clock clock;
  private final ResourceStack closing = new ResourceStack();
  private final NodeSessions sessions = new NodeSessions();

  private final GameTables tables;
  private final RowCodec codec;
  private final OwnerTable owners;
  private final OwnerViews views;
  private final SlotKeys[] slots;
  private final RedisClock redisClock;
  private final VersionClock versions;
  private final ControlConnection control;
  private final WalWriter wal;
  private final CommitSender sender;
  private final ConnectionAfterHealing whereHealed;
  private final DurableNotices notices;
  private final NodeHeartbeat heartbeat;
  private final AtomicBoolean closed = new AtomicBoolean();
  private final ClosedSessionNotices closedSessions;
  private final NodeUpkeep upkeep;
  private final Callbacks callbacks;
  private final TimedCalls calls;

  /** Need Redis only, and so do not wait for calls that wait for MySQL. */
  private final TimedCalls closes;

  private final Set<OwnerId> opening = new HashSet<>();

  /** For what nobody waits for; what there is no room for is not done. */
  private final ExecutorService asides = DaemonThreads.bounded("gameq-asides", MOST_ASIDES);

  /** Why this node cannot go on; null while it can. */
  private volatile @Nullable Throwable failure;

  /** An owner that was opened. */
  record Opened(DurableTracker tracker, OwnerView view, PendingHandovers handovers) {}

  static GameNode start(GameQueueConfig config) {
    return new GameNode(config);
  }

  private GameNode(GameQueueConfig config) {
    this.config = config;
    this.clock = config.clock();
    try {
      MySql mysql = closing.add(MySqlPool.openForLogins(mysqlOf(config), config.callTimeout()));
      MySqlServerCheck.of(mysql).requireUsable();
      Settings.agree(mysql, config.namespace(), config.slots());
      Catalog catalog = CatalogReader.read(mysql).requireManaged();
      LayoutTable layouts = new LayoutTable(mysql);
      layouts.register(catalog);
      codec = new RowCodec(layouts, clock);
      owners = new OwnerTable(mysql);
      MySqlSessions durable = new MySqlSessions(owners);
      slots = SlotKeys.all(config.namespace(), config.slots());
      RedisConnector connector = closing.add(new RedisConnector(redisOf(config)));
      RedisConnector ofSender = closing.add(RedisConnector.ofOneThread(redisOf(config)));
      PrimaryConnector primary = new PrimaryConnector(ofSender, new TermTable(mysql));
      redisClock = new RedisClock();
      versions = new VersionClock(redisClock);
      control = closing.add(new ControlConnection(connector));
      control.get();
      EarlierWalPolicy.apply(config, mysql, durable, catalog, primary);
      wal =
          closing.add(
              WalWriter.create(
                  new WalWriter.Start(
                      config.walDirectory(),
                      config.namespace(),
                      config.slots(),
                      config.node(),
                      process,
                      clock.millis()),
                  config.walLimits(),
                  layouts(catalog)));
      tables =
          new GameTables(
              catalog, new CurrentCatalog(catalog, () -> readAgain(mysql, layouts, wal)), clock);
      views = new OwnerViews(tables, codec, new OwnerReader(mysql));
      callbacks = closing.add(Callbacks.on(config.callbacks()));
      closing.add(() -> stop(asides));
      closes = closing.add(new TimedCalls(MOST_CLOSES));
      calls = closing.add(new TimedCalls(2 * config.poolSize()));
      AgentRunner upkeepThread = new AgentRunner("gameq-upkeep");
      heartbeat = new NodeHeartbeat(config.namespace(), process, config.node());
      // A connection, and threads, that nothing else uses: nothing holds up the signs of life.
      ControlConnection signs =
          closing.add(
              new ControlConnection(closing.add(RedisConnector.ofOneThread(redisOf(config)))));
      closedSessions = new ClosedSessionNotices(this::tellClosed);
      notices = new DurableNotices(connector, config.namespace(), process, this::durable);
      RepeatAfterHealing afterHealing =
          new RepeatAfterHealing(notices, closedSessions, sessions, upkeepThread::wake);
      sender =
          closing.add(
              new CommitSender(
                  new SenderConfig(
                      slots,
                      () -> redisClock.getAsLong() + config.mergeWindow().toMillis(),
                      config.limits(),
                      config.whenRedisIsFull(),
                      config.whenRedisIsAway()),
                  new SenderRedis(primary, ofSender.eventLoop(), redisClock, heartbeat),
                  new SenderWal(wal, versions),
                  new DurableTruth(
                      durable, new AdoptedHalves(slots, durable, views::versions)),
                  eventsOfSender(afterHealing)));
      whereHealed = new ConnectionAfterHealing(control, sender);
      closing.add(notices).keepSubscribed();
      upkeep =
          new NodeUpkeep(
              config,
              new NodeUpkeep.Servers(slots, control, primary, redisClock, notices, owners, views),
              new NodeUpkeep.Node(sessions, closedSessions, sender, wal, callbacks),
              afterHealing);
      beatFirst(signs);
      closing.add(upkeepThread).start(upkeep.duties());
      closing
          .add(new AgentRunner("gameq-heartbeat"))
          .start(Duty.every(BEAT_EVERY, "give a sign of life", () -> beat(signs)));
    } catch (RuntimeException e) {
      closing.close();
      throw e;
    }
    LOG.info(
        "node {} opened namespace {} with WAL {}",
        config.node(),
        config.namespace(),
        wal.directory());
  }

  private SenderEvents eventsOfSender(RepeatAfterHealing afterHealing) {
    return new SenderEvents() {
      @Override
      public void healed() {
        afterHealing.healed();
      }

      @Override
      public void notReplayed(Set<Long> sequences) {
        sessions.gaveUp(sequences);
      }

      @Override
      public void died(Throwable cause) {
        senderDied(cause);
      }
    };
  }

  /** Nothing is committed here any more: owners are not to look taken by it. */
  void senderDied(Throwable cause) {
    failure = cause;
    callbacks.execute(() -> config.onFailure().accept(cause));
  }

  private void beat(ControlConnection signs) {
    if (failure != null) {
      stopHeartbeat();
      return;
    }
    sender.takeAlong(signs);
    if (heartbeat.beat(signs, sender::hasHealedOn)) {
      sender.healAgain("its sign of life is gone from Redis");
    }
  }

  /** Before anything is opened; the next ones are given again and again. */
  private void beatFirst(ControlConnection signs) {
    try {
      beat(signs);
    } catch (RuntimeException e) {
      LOG.warn("cannot give a sign of life yet: {}", e.toString());
    }
  }

  private static List<WalRecord.Layout> layouts(Catalog catalog) {
    return catalog.tables().stream()
        .map(t -> new WalRecord.Layout(t.name(), t.fingerprint(), t.layout()))
        .toList();
  }

  /** The catalogue, after a table was altered: its column lists are kept before rows name them. */
  private static Catalog readAgain(MySql mysql, LayoutTable layouts, WalWriter wal) {
    Catalog catalog = CatalogReader.read(mysql);
    layouts.register(catalog);
    wal.appendLayouts(layouts(catalog));
    return catalog;
  }

  private static void stop(ExecutorService executor) {
    executor.shutdown();
    try {
      if (!executor.awaitTermination(5, TimeUnit.SECONDS)) {
        executor.shutdownNow();
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  Callbacks callbacks() {
    return callbacks;
  }

  GameTables tables() {
    return tables;
  }

  RowCodec codec() {
    return codec;
  }

  Clock clock() {
    return clock;
  }

  Limits limits() {
    return config.limits();
  }

  List<DurableTracker> trackers() {
    return List.copyOf(sessions.all());
  }

  /** The end of the time that a call has that begins now, by System.nanoTime. */
  long callDeadline() {
    return System.nanoTime() + config.callTimeout().toNanos();
  }

  /** Waits for room until then; throws as {@link CommitSender#submit}. */
  void submit(Commit commit, long deadlineNanos) {
    sender.submit(commit, deadlineNanos);
  }

  // --- open

  /**
   * The owner's sessions, null for none, if no other node has it open that is alive, or may be;
   * else throws {@link OwnerHeldException}.
   */
  private @Nullable CountingSessions requireFree(OwnerId owner) {
    CountingSessions durable = owners.current(List.of(owner)).get(owner);
    String elsewhere =
        durable == null
            ? null
            : new OpenOwners(config.namespace(), process)
                .elsewhere(control, slot(owner), owner, durable);
    if (elsewhere != null) {
      throw new OwnerHeldException(
          "%s is open %s: close it there, or open it with Takeover.ALWAYS"
              .formatted(owner, elsewhere));
    }
    return durable;
  }

  /** A new session in MySQL; {@code mine} is what the attempt before had raised. */
  private SessionId raise(
      OwnerId owner, Takeover takeover, @Nullable SessionId mine, long atLeast) {
    String nonce = process + "%08x".formatted(random.nextInt());
    if (takeover == Takeover.ALWAYS) {
      return owners.raise(owner, nonce, config.node(), atLeast);
    }
    CountingSessions seen =
        mine == null ? requireFree(owner) : owners.current(List.of(owner)).get(owner);
    SessionId session =
        mine == null || (seen != null && mine.equals(seen.newest()))
            ? owners.raiseAfter(seen, owner, nonce, config.node(), atLeast)
            : null;
    if (session == null) {
      throw openedElsewhere(owner);
    }
    return session;
  }

  /** The newest session that an open has raised, whichever attempt it was; used by one thread. */
  private static final class Raised {
    private final BooleanSupplier isAwaited;
    private @Nullable SessionId session;

    Raised(BooleanSupplier isAwaited) {
      this.isAwaited = isAwaited;
    }
  }

  Opened open(OwnerId owner, List<Table> of, Takeover takeover) {
    requireAlive();
    of.forEach(
        table -> table.ownerColumnValue(owner)); // before anything is written: does the id fit?
    return calls.call(
        "opening " + owner,
        config.callTimeout().toNanos(),
        isAwaited -> openInTurn(owner, of, takeover, isAwaited),
        late -> release(late.tracker()));
  }

  /**
   * One open of an owner at a time: one that nobody waits for any more must not end the session of
   * the next.
   */
  private Opened openInTurn(
      OwnerId owner, List<Table> of, Takeover takeover, BooleanSupplier isAwaited) {
    synchronized (opening) {
      while (!opening.add(owner)) {
        requireAwaited(owner, isAwaited);
        try {
          opening.wait(LOOK_EVERY_MILLIS);
        } catch (InterruptedException e) {
          throw new IllegalStateException(e); // nobody interrupts these threads
        }
      }
    }
    try {
      return openOrGiveUp(owner, of, takeover, isAwaited);
    } finally {
      synchronized (opening) {
        opening.remove(owner);
        opening.notifyAll();
      }
    }
  }

  private static void requireAwaited(OwnerId owner, BooleanSupplier isAwaited) {
    if (!isAwaited.getAsBoolean()) {
      throw new GameQueueException("nobody waits for the open of " + owner + " any more");
    }
  }

  private Opened openOrGiveUp(
      OwnerId owner, List<Table> of, Takeover takeover, BooleanSupplier isAwaited) {
    Raised raised = new Raised(isAwaited);
    try {
      return open(owner, of, takeover, raised);
    } catch (RuntimeException e) {
      if (raised.session != null) {
        giveUp(owner, raised.session);
      }
      throw takeover == Takeover.UNLESS_ALIVE && e instanceof OwnershipLostException
          ? openedElsewhere(owner)
          : e;
    }
  }

  private void requireAlive() {
    Throwable cause = failure;
    if (cause != null) {
      throw new GameQueueException(
          "node %s cannot go on, since its sender died (%s): close it and start it again"
              .formatted(config.node(), cause),
          cause);
    }
  }

  private static OwnerHeldException openedElsewhere(OwnerId owner) {
    return new OwnerHeldException("%s was opened elsewhere at the same moment".formatted(owner));
  }

  private Opened open(OwnerId owner, List<Table> of, Takeover takeover, Raised raised) {
    long atLeast = 0;
    Adopted lost = null;
    for (int attempt = 1; ; attempt++) {
      // Before the epoch: an attempt fails with its connection. A writer may have finished it and
      // flush under its epoch what Redis lost since; only a new epoch stops that flush.
      ConnectionAfterHealing.Healed connected =
          whereHealed.getAndLook(slot(owner), owner, raised.isAwaited, this::look);
      requireAwaited(owner, raised.isAwaited);
      SessionId session = raise(owner, takeover, raised.session, atLeast);
      raised.session = session;
      requireAwaited(owner, raised.isAwaited); // the session before it still counts
      OpenScript.Outcome outcome =
          OpenScript.call(
              connected.redis(), slot(owner), owner, session, config.mergeWindow().toMillis());
      if (outcome instanceof OpenScript.Opened script) {
        OpenScript.Opened opened = withLost(script, owner, session, lost, connected);
        Opened done;
        try {
          done = finishOpen(owner, session, of, opened, connected);
        } catch (TermMovedException e) {
          if (attempt == MOST_OPEN_ATTEMPTS) {
            throw e;
          }
          sender.leave(connected.term());
          continue;
        }
        if (done != null) {
          return done;
        }
        if (attempt == MOST_OPEN_ATTEMPTS) {
          throw new RedisUnavailableException(
              "Redis lost session " + session + " while it was opened: try again");
        }
        lost = new Adopted(session, opened);
      } else {
        SessionId owns = ((OpenScript.Refused) outcome).ownedBy();
        CountingSessions durable = owners.current(List.of(owner)).get(owner);
        if (durable == null || !session.equals(durable.newest()) || attempt == MOST_OPEN_ATTEMPTS) {
          throw openedMeanwhile(owner, owns);
        }
        atLeast = owns.epoch() + 1; // MySQL lost epochs that Redis remembers
      }
    }
  }

  /** Nobody holds the session of an open that failed: the owner is not to look taken by it. */
  private void giveUp(OwnerId owner, SessionId session) {
    closedSessions.addFailed(new SessionRef(owner, session, owner.slot(slots.length)));
    asides.execute(closedSessions::tell);
  }

  /**
   * Whether what Redis holds of the owner can be read, before the session that it has is disturbed.
   * A row that comes between this and the script, and cannot be read, fails the open as well: then
   * it waits in Redis under the new session, as everything does that an open adopted that failed
   * later.
   */
  private void look(List<UnflushedRow> unflushed) {
    views.requireReadable(OwnerViews.withoutDamaged(unflushed));
  }

  private static OwnershipLostException openedMeanwhile(OwnerId owner, SessionId owns) {
    return new OwnershipLostException(
        "session " + owns + " opened " + owner + " at the same moment");
  }

  /**
   * Whether Redis still has the session, over the very connection over which it was told. Else the
   * session before it may have gone on, and committed, until this one was set open in MySQL: what
   * it left is for another attempt to adopt.
   */
  private boolean isKept(
      ConnectionAfterHealing.Healed connected, OwnerId owner, SessionId session) {
    SessionId owns;
    try {
      owns = OwnKey.session(connected.redis(), slot(owner), owner);
    } catch (RedisUnavailableException e) {
      return false;
    }
    if (owns != null && owns.isNewerThan(session)) {
      throw openedMeanwhile(owner, owns);
    }
    return session.equals(owns);
  }

  /** What an attempt to open had adopted when Redis lost its session, and perhaps the rows. */
  private record Adopted(SessionId session, OpenScript.Opened rows) {}

  /**
   * What the script returned, and what the attempt before had adopted and Redis holds no more: it
   * is put back. Only when nobody opened the owner between the two attempts: a session that did has
   * gone on without these rows, and they are a conflict with it.
   */
  private OpenScript.Opened withLost(
      OpenScript.Opened script,
      OwnerId owner,
      SessionId session,
      @Nullable Adopted lost,
      ConnectionAfterHealing.Healed connected) {
    if (lost == null || session.epoch() != lost.session.epoch() + 1) {
      return script;
    }
    Map<String, UnflushedRow> dirty = byKey(script.dirty());
    Map<String, UnflushedRow> held = byKey(script.claimed());
    dirty.forEach((key, row) -> held.merge(key, row, GameNode::newer));
    List<UnflushedRow> missing = new ArrayList<>();
    for (List<UnflushedRow> rows : List.of(lost.rows.dirty(), lost.rows.claimed())) {
      for (UnflushedRow row : OwnerViews.withoutDamaged(rows)) {
        if (held.merge(row.key(), row, GameNode::newer).equals(row)) {
          dirty.put(row.key(), row);
          missing.add(row);
        }
      }
    }
    if (missing.isEmpty()) {
      return script;
    }
    LostRows.putBack(
        connected.redis(),
        slot(owner),
        new SessionRef(owner, session, owner.slot(slots.length)),
        wal.id(),
        missing);
    return new OpenScript.Opened(List.copyOf(dirty.values()), script.claimed());
  }

  private static Map<String, UnflushedRow> byKey(List<UnflushedRow> rows) {
    Map<String, UnflushedRow> byKey = new HashMap<>();
    OwnerViews.withoutDamaged(rows).forEach(row -> byKey.put(row.key(), row));
    return byKey;
  }

  /** The first when both are of one version. */
  private static UnflushedRow newer(UnflushedRow one, UnflushedRow other) {
    return RowCodec.version(other.image()) > RowCodec.version(one.image()) ? other : one;
  }

  /** Null when Redis has lost the session meanwhile. */
  private @Nullable Opened finishOpen(
      OwnerId owner,
      SessionId session,
      List<Table> of,
      OpenScript.Opened opened,
      ConnectionAfterHealing.Healed connected) {
    SessionRef ref = new SessionRef(owner, session, owner.slot(slots.length));
    List<UnflushedRow> dirty = OwnerViews.withoutDamaged(opened.dirty());
    List<UnflushedRow> claimed = OwnerViews.withoutDamaged(opened.claimed());
    List<UnflushedRow> unflushed = new ArrayList<>(dirty);
    unflushed.addAll(claimed);
    DurableTracker tracker = new DurableTracker(ref);
    try {
      if (!unflushed.isEmpty()) {
        tracker.adopting(sender.newestSequence() + 1);
        sessions.add(tracker); // from here on the WAL is kept for it
      }
      long[] sequences = unflushed.isEmpty() ? new long[0] : appendAdopted(ref, unflushed);
      OwnerView view = views.load(owner, session, connected.term(), of, unflushed);
      if (!isKept(connected, owner, session)) {
        sessions.remove(tracker);
        return null;
      }
      versions.observe(view.highestVersion());
      tracker.adopted(
          held(dirty, Arrays.copyOf(sequences, dirty.size())),
          held(claimed, Arrays.copyOfRange(sequences, dirty.size(), sequences.length)));
      handOn(tracker, unflushed);
      view.unflushed()
          .forEach(image -> tracker.carry(image.rowKey().text(), tables.carried(image)));
      sessions.add(tracker);
      sender.register(ref, tracker, connected.connections());
      return new Opened(tracker, view, new PendingHandovers(unflushed));
    } catch (RuntimeException e) {
      sender.unregister(ref);
      sessions.remove(tracker);
      throw e;
    }
  }

  /** Tells the owner's earlier sessions of this node what the new one adopted. */
  private void handOn(DurableTracker tracker, List<UnflushedRow> unflushed) {
    Collection<DurableTracker> earlier = sessions.before(tracker);
    if (!unflushed.isEmpty() && !earlier.isEmpty()) {
      Map<String, Long> versions = new HashMap<>();
      unflushed.forEach(row -> versions.merge(row.key(), RowCodec.version(row.image()), Math::max));
      earlier.forEach(one -> one.adoptedBy(tracker, versions));
    }
  }

  private static Map<String, DurableTracker.Held> held(List<UnflushedRow> rows, long[] sequences) {
    Map<String, DurableTracker.Held> held = new HashMap<>();
    for (int i = 0; i < sequences.length; i++) {
      UnflushedRow row = rows.get(i);
      held.put(
          row.key(),
          new DurableTracker.Held(
              RowCodec.version(row.image()),
              sequences[i],
              row.key().length() + row.image().length,
              true));
    }
    return held;
  }

  /**
   * In records that the WAL takes, however much the owner has unflushed; returns the sequence of
   * each row's record.
   */
  private long[] appendAdopted(SessionRef session, List<UnflushedRow> unflushed) {
    long[] sequences = new long[unflushed.size()];
    List<ChangedRow> rows = new ArrayList<>();
    long bytes = 0;
    int from = 0;
    for (int i = 0; i < sequences.length; i++) {
      UnflushedRow row = unflushed.get(i);
      if (!rows.isEmpty() && bytes + row.image().length > config.limits().commitBytes()) {
        Arrays.fill(
            sequences, from, i, sender.appendAdopted(new CommitPart(session, List.copyOf(rows))));
        rows.clear();
        bytes = 0;
        from = i;
      }
      rows.add(new ChangedRow(row.key(), row.image()));
      bytes += row.key().length() + row.image().length;
    }
    Arrays.fill(
        sequences,
        from,
        sequences.length,
        sender.appendAdopted(new CommitPart(session, List.copyOf(rows))));
    return sequences;
  }

  OwnerView read(OwnerId owner, Table table) {
    table.ownerColumnValue(owner);
    return calls.call(
        "reading " + owner,
        config.callTimeout().toNanos(),
        isAwaited -> readInTime(owner, table),
        late -> {});
  }

  private OwnerView readInTime(OwnerId owner, Table table) {
    List<UnflushedRow> unflushed = control.ask(redis -> ReadScript.call(redis, slot(owner), owner));
    String prefix = PercentEncoding.percent(table.name()) + ":";
    return views.load(
        owner,
        null,
        Term.NOT_KNOWN,
        List.of(table),
        unflushed.stream().filter(row -> row.key().startsWith(prefix)).toList());
  }

  private SlotKeys slot(OwnerId owner) {
    return slots[owner.slot(slots.length)];
  }

  // --- flush and close

  /** Makes what is dirty due soon; best effort. Returns at once: Redis may be silent. */
  void flushNow(List<SessionRef> sessions) {
    asides.execute(
        () -> {
          try {
            control.call(
                redis -> {
                  DueSessions.flushNow(redis, slots, sessions);
                  return true;
                });
          } catch (GameQueueException e) {
            LOG.debug("cannot pull flushes forward: {}", e.getMessage());
          }
        });
  }

  /**
   * Gives a session up once Redis has all of it. Throws GameQueueException when it has not by then;
   * the session is given up all the same, as soon as it has.
   */
  void closeSession(DurableTracker tracker, long deadlineNanos) {
    SessionRef session = tracker.session();
    release(tracker);
    try {
      if (!tracker.awaitQueued(deadlineNanos)) {
        throw new GameQueueException(
            "not known within %d ms that Redis has all of session %s; it is sent on"
                .formatted(config.callTimeout().toMillis(), session));
      }
      long left = deadlineNanos - System.nanoTime();
      if (left > 0) { // else it is told soon
        closes.call(
            "closing " + session.owner(),
            left,
            isAwaited -> closedSessions.tell(session),
            late -> {});
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** The owner is free once Redis has what was committed. */
  private void release(DurableTracker tracker) {
    sessions.close(tracker);
    closedSessions.add(tracker.session(), tracker::isQueued);
    sessions.forgetDrained(sender::unregister);
  }

  private boolean tellClosed(SessionRef session) {
    return control.call(
        redis -> CloseScript.call(redis, slots[session.slot()], session.owner(), session.id()));
  }

  private void durable(
      String owner,
      String session,
      long version,
      Map<String, Long> setAside,
      Map<String, Long> kept) {
    DurableTracker tracker = sessions.find(owner, session);
    if (tracker != null) {
      tracker.durable(version, setAside, kept);
    }
  }

  private void stopHeartbeat() {
    try {
      heartbeat.stop(control);
    } catch (GameQueueException e) {
      LOG.debug("cannot take back the sign of life: {}", e.getMessage());
    }
  }

  /** A WAL that is gone needs no marks. */
  private void forgetJournal() {
    try {
      for (SlotKeys slot : slots) {
        control.call(redis -> JournalMarks.forget(redis, slot, wal.id()));
      }
    } catch (GameQueueException e) {
      LOG.debug("cannot remove the journal marks of {}: {}", wal.id(), e.getMessage());
    }
  }

  /** Closes within the time of a call; what takes longer goes on in the background. */
  @Override
  public void close() {
    if (closed.getAndSet(true)) {
      return;
    }
    long deadline = callDeadline();
    callbacks.closeSoon();
    CompletableFuture<Void> ended = CompletableFuture.runAsync(this::end, this::inBackground);
    try {
      ended.get(config.callTimeout().toNanos(), TimeUnit.NANOSECONDS);
    } catch (TimeoutException e) {
      LOG.warn(
          "node {} is not closed within {} ms, since Redis or MySQL does not answer; it goes on in"
              + " the background",
          config.node(),
          config.callTimeout().toMillis());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } catch (ExecutionException e) {
      throw new GameQueueException("node %s did not close well".formatted(config.node()), e);
    } finally {
      callbacks.runLeft(deadline);
    }
  }

  private void inBackground(Runnable task) {
    DaemonThreads.named("gameq-close", task).start();
  }

  private void end() {
    calls.close();
    closes.close();
    boolean answered =
        sender.close(Math.max(LEAST_CLOSE_MILLIS, config.callTimeout().toMillis() * 2 / 3));
    boolean allDurable = answered && !upkeep.hadConflicts() && sessions.isDrained();
    if (allDurable) {
      forgetJournal();
      wal.complete();
    } else {
      LOG.warn(
          "not everything is known to be in MySQL: the WAL {} is kept for recovery",
          wal.directory());
    }
    stopHeartbeat();
    sessions.all().forEach(DurableTracker::closed);
    closing.close();
  }

  private static RedisConfig redisOf(GameQueueConfig config) {
    return new RedisConfig(
        config.redisUri(), config.redisPassword(), RedisConfig.DEFAULT_TIMEOUT_MILLIS);
  }

  private static MySqlConfig mysqlOf(GameQueueConfig config) {
    return new MySqlConfig(
        config.jdbcUrl(), config.mysqlUser(), config.mysqlPassword(), config.poolSize());
  }
}
