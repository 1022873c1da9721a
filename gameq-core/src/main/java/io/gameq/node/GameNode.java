package io.gameq.node;

import io.gameq.ClosedException;
import io.gameq.GameQueue;
import io.gameq.GameQueueException;
import io.gameq.agent.AgentRunner;
import io.gameq.agent.AgentRunner.DaemonThreads;
import io.gameq.agent.Duty;
import io.gameq.backlog.NodePressure;
import io.gameq.backlog.SharedBacklog;
import io.gameq.change.VersionClock;
import io.gameq.commit.CommitSender;
import io.gameq.config.EarlierWals;
import io.gameq.config.GameQueueConfig;
import io.gameq.durability.Callbacks;
import io.gameq.durability.DurableTracker;
import io.gameq.durability.NodeSessions;
import io.gameq.healing.DurableTruth;
import io.gameq.healing.LeftWalReplay;
import io.gameq.mysql.MySqlPool;
import io.gameq.mysql.MySqlPool.MySql;
import io.gameq.mysql.MySqlPool.MySqlConfig;
import io.gameq.mysql.MySqlServerCheck;
import io.gameq.mysql.schema.CatalogReader;
import io.gameq.mysql.schema.LayoutTable;
import io.gameq.mysql.schema.Settings;
import io.gameq.mysql.tables.DurableRows;
import io.gameq.mysql.tables.NodeTable;
import io.gameq.mysql.tables.OwnerReader;
import io.gameq.mysql.tables.OwnerTable;
import io.gameq.mysql.tables.TermTable;
import io.gameq.mysql.tables.TopicTable;
import io.gameq.owner.OwnerId;
import io.gameq.owner.SessionRef;
import io.gameq.redis.ControlConnection;
import io.gameq.redis.PrimaryConnector;
import io.gameq.redis.PrimaryConnector.RedisIdentity;
import io.gameq.redis.RedisClock;
import io.gameq.redis.RedisConnector;
import io.gameq.redis.RedisConnector.RedisConfig;
import io.gameq.redis.RedisConnector.RedisLogin;
import io.gameq.redis.SlotKeys;
import io.gameq.redis.Slots;
import io.gameq.redis.script.JournalMarks;
import io.gameq.redis.script.NodeSigns.NodeHeartbeat;
import io.gameq.redis.script.NodeSigns.ProcessSigns;
import io.gameq.redis.script.SessionScripts;
import io.gameq.rows.CurrentCatalog;
import io.gameq.rows.CurrentCatalog.Catalog;
import io.gameq.rows.RowCodec;
import io.gameq.sign.NodeCounts;
import io.gameq.sign.NodeCounts.CommitOutcome;
import io.gameq.sign.NodeSign;
import io.gameq.sign.ProcessIdentity;
import io.gameq.sign.SignFields;
import io.gameq.term.Terms.QueueIdentity;
import io.gameq.view.GameTables;
import io.gameq.view.OwnerViews;
import io.gameq.wal.WalDirectory;
import io.gameq.wal.WalRecord;
import io.gameq.wal.WalWriter;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A running node: connects and checks MySQL and Redis, settles what earlier starts left, makes a
 * WAL, then starts the sender and the background work; and closes all that. Thread-safe.
 */
final class GameNode implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(GameNode.class);

  private static final Duration BEAT_EVERY = Duration.ofSeconds(1);
  private static final Duration ASK_EVERY = Duration.ofSeconds(1);

  /** What waits for Redis may still be sent, though nobody waits for the close. */
  private static final long LEAST_CLOSE_MILLIS = 10_000;

  final GameQueueConfig config;

  private final SecureRandom random = new SecureRandom();

  /** Names this start of the node: in its WAL, in the nonces of its sessions, as a sign of life. */
  final String process = "%08x".formatted(random.nextInt());

  /** What may not be in MySQL yet. */
  final NodeSessions sessions = new NodeSessions(new NodeCounts());

  /** That of Redis. */
  final RedisClock clock = new RedisClock();

  final VersionClock versions = new VersionClock(clock);
  final NodeServers servers;
  final OwnerTable owners;
  final TopicTable topics;
  final OwnerViews views;
  final GameRows rows;

  /** Run the game's own code. */
  final Callbacks callbacks;

  final WalWriter wal;
  final CommitSender sender;
  final NodeUpkeep upkeep;
  final NodeStatus status;
  final NodeCalls calls;
  final SessionClosing closing;

  /** Which thresholds of the backlog are passed. */
  final NodePressure pressure;

  private final ResourceStack opened;
  private final AtomicBoolean closed = new AtomicBoolean();

  /** Why the node cannot go on; null while it can. */
  private volatile @Nullable Throwable death;

  /**
   * Throws as {@link io.gameq.GameQueue#open(GameQueueConfig)}, and closes what it had opened then.
   * Asks no server before the JVM is fit.
   */
  static GameNode start(GameQueueConfig config) {
    WalWriter.requireJvmFlags();
    ResourceStack opened = new ResourceStack();
    try {
      GameNode node = new GameNode(config, opened);
      LOG.info(
          "node {} opened namespace {} with WAL {}",
          config.node(),
          config.namespace(),
          node.wal.directory());
      return node;
    } catch (RuntimeException e) {
      opened.close();
      throw e;
    }
  }

  private GameNode(GameQueueConfig config, ResourceStack opened) {
    this.config = config;
    this.opened = opened;
    servers = NodeServers.open(config, opened);
    owners = new OwnerTable(servers.mysql());
    NodeHeartbeat heartbeat = new NodeHeartbeat(config.namespace(), process, config.node(), clock);
    // A connection, and threads, that nothing else uses: nothing holds up the signs of life.
    status = new NodeStatus(this, heartbeat, NodeServers.apart(config, opened));
    replayEarlierWals().forEach(replayed -> status.forget(WalDirectory.process(replayed)));
    wal = opened.add(newWal());
    CurrentCatalog catalog = new CurrentCatalog(servers.atStart(), () -> servers.readAgain(wal));
    GameTables tables = new GameTables(servers.atStart(), catalog, config.clock());
    RowCodec codec = new RowCodec(servers.layouts(), config.clock());
    rows = new GameRows(tables, codec, config.clock(), config.limits().rowBytes());
    views = new OwnerViews(tables, codec, new OwnerReader(servers.mysql()));

    callbacks = opened.add(Callbacks.on(config.callbacks()));
    topics = new TopicTable(servers.mysql());
    closing = new SessionClosing(this);
    upkeep = new NodeUpkeep(this);
    sender =
        opened.add(
            new CommitSender(
                config,
                new CommitSender.Servers(
                    servers.slots(),
                    servers.primary(),
                    servers.ofSender().eventLoop(),
                    clock,
                    heartbeat),
                wal,
                versions,
                sessions,
                new DurableTruth(servers.slots(), owners, views::versions),
                upkeep::healed,
                this::died));
    calls =
        opened.add(
            new NodeCalls(
                config,
                new NodeCalls.Servers(
                    sender::isHealed, upkeep::mysqlAnswers, servers.mysql()::hasConnections)));
    opened.add(closing);
    opened.add(upkeep).subscribe();
    status.begin();
    upkeep.start();
    opened
        .add(new AgentRunner("gameq-heartbeat"))
        .start(Duty.every(BEAT_EVERY, "give a sign of life", status::beat));
    pressure = startPressure();
  }

  /**
   * Replays, refuses or ignores the incomplete WALs that earlier starts of this node left behind,
   * as {@link io.gameq.config.GameQueueConfigBuilder#earlierWals} says; returns those that were
   * replayed whole. Before the first owner is opened: else its rows would be conflicts when they
   * are replayed.
   *
   * @throws GameQueueException when an incomplete WAL is there and it is not to start beside one,
   *     or a server goes away while it is replayed
   */
  private List<Path> replayEarlierWals() {
    List<Path> wals = WalDirectory.left(config.walDirectory(), config.node());
    List<Path> incomplete = wals.stream().filter(wal -> !WalDirectory.isComplete(wal)).toList();
    for (Path wal : incomplete) {
      LOG.warn("an earlier start of node {} left the incomplete WAL {}", config.node(), wal);
    }
    if (!incomplete.isEmpty() && config.earlierWals() == EarlierWals.REFUSE) {
      throw new GameQueueException(
          ("node %s does not start beside the incomplete WAL %s: run 'gameq-recovery"
                  + " plan' over it and remove it when 'verify' ends with 0, or choose another"
                  + " earlierWals")
              .formatted(config.node(), incomplete.get(0)));
    }
    if (wals.isEmpty()) {
      return wals;
    }
    if (config.earlierWals() == EarlierWals.IGNORE) {
      LOG.warn("they are left to 'gameq-recovery plan'");
      return List.of();
    }
    return LeftWalReplay.run(
        servers.primary(),
        new DurableRows(servers.mysql(), servers.atStart()),
        config.namespace(),
        servers.slots(),
        servers.database(),
        wals);
  }

  private WalWriter newWal() {
    return WalWriter.create(
        new WalWriter.Start(
            config.walDirectory(),
            config.namespace(),
            config.slots(),
            servers.database(),
            config.node(),
            process,
            config.clock().millis()),
        config.walLimits(),
        NodeServers.layoutsOf(servers.atStart()));
  }

  /** Where no threshold is set, nobody asks. */
  private NodePressure startPressure() {
    NodePressure passed =
        new NodePressure(
            config.pressureLimits(),
            config.maxSlowdown().toMillis(),
            of -> callbacks.execute(() -> config.onPressure().accept(of)));
    if (!config.pressureLimits().isEmpty()) {
      ControlConnection redis = NodeServers.apart(config, opened);
      var backlog =
          SharedBacklog.summary(config.namespace(), new Slots(config.namespace(), config.slots()));
      opened
          .add(new AgentRunner("gameq-pressure"))
          .start(
              Duty.every(
                  Duration.ZERO,
                  ASK_EVERY::toNanos,
                  "ask what waits for MySQL",
                  () -> passed.look(redis, backlog)));
    }
    return passed;
  }

  /** For a new session; names this process too. */
  String nonce() {
    return process + "%08x".formatted(random.nextInt());
  }

  /** Nothing is committed here any more: owners are not to look taken by this node. */
  void died(Throwable cause) {
    death = cause;
    callbacks.execute(() -> config.onFailure().accept(cause));
  }

  boolean isAlive() {
    return death == null;
  }

  void requireAlive() {
    Throwable cause = death;
    if (cause != null) {
      throw new GameQueueException(
          "node %s cannot go on, since its sender died (%s): close it and start it again"
              .formatted(config.node(), cause),
          cause);
    }
  }

  /** Whether the game has closed the node. */
  boolean isClosed() {
    return closed.get();
  }

  /** Throws ClosedException once the game has closed the node. */
  void requireOpen() {
    if (isClosed()) {
      throw new ClosedException("node " + config.node() + " is closed: open a GameQueue anew");
    }
  }

  /** Within the time of a call; what takes longer goes on in the background. */
  @Override
  public void close() {
    if (closed.getAndSet(true)) {
      return;
    }
    long deadline = calls.deadline();
    callbacks.closeSoon();
    CompletableFuture<Void> ended =
        CompletableFuture.runAsync(
            this::end, task -> DaemonThreads.named("gameq-close", task).start());
    try {
      ended.get(deadline - System.nanoTime(), TimeUnit.NANOSECONDS);
    } catch (TimeoutException e) {
      LOG.warn(
          "node {} is not closed within {} ms, since Redis or MySQL does not answer; it goes on in"
              + " the background",
          config.node(),
          calls.timeout.toMillis());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } catch (ExecutionException e) {
      throw new GameQueueException("node %s did not close well".formatted(config.node()), e);
    } finally {
      callbacks.runLeft(deadline);
    }
  }

  private void end() {
    calls.close();
    boolean answered = sender.close(Math.max(LEAST_CLOSE_MILLIS, calls.timeout.toMillis() * 2 / 3));
    boolean isKept = !answered || upkeep.hadConflicts() || !sessions.isDrained();
    if (isKept) {
      LOG.warn(
          "not everything is known to be in MySQL: the WAL {} is kept for recovery",
          wal.directory());
      upkeep.noteOldest();
    } else if (sender.recent().keptFrom()
        != Long.MAX_VALUE) { // the next start puts back what Redis loses of them
      wal.complete(System.currentTimeMillis() + config.messageKeep().toMillis());
    } else {
      forgetJournal();
      wal.complete();
    }
    status.end(isKept);
    sessions.all().forEach(DurableTracker::closed);
    opened.close();
  }

  /** A WAL that is gone needs no marks. */
  private void forgetJournal() {
    try {
      servers.control().call(redis -> JournalMarks.forget(redis, servers.slots(), wal.id()));
    } catch (GameQueueException e) {
      LOG.debug("cannot remove the journal marks of {}: {}", wal.id(), e.getMessage());
    }
  }

  /**
   * The resources that were opened, to be closed in reverse order; one that fails to close is
   * logged and does not keep the others open. Not thread-safe.
   */
  static final class ResourceStack implements AutoCloseable {
    private final Deque<AutoCloseable> opened = new ArrayDeque<>();

    <T extends AutoCloseable> T add(T resource) {
      opened.push(resource);
      return resource;
    }

    @Override
    public void close() {
      while (!opened.isEmpty()) {
        try {
          opened.pop().close();
        } catch (Exception e) {
          LOG.warn("while closing: {}", e.toString());
        }
      }
    }
  }

  /**
   * The servers of a node, checked at start, and the ways to them. Thread-safe.
   *
   * @param atStart the managed tables as they were then
   * @param database which one it is, by gameq_setting
   * @param ofSender on one thread of its own
   * @param primary by way of {@code ofSender}, to the primary that counts
   * @param control for scripts of all threads
   */
  record NodeServers(
      MySql mysql,
      String database,
      LayoutTable layouts,
      Catalog atStart,
      SlotKeys[] slots,
      RedisConnector connector,
      RedisConnector ofSender,
      PrimaryConnector primary,
      ControlConnection control) {
    /**
     * Connects; throws GameQueueException when a server is away, or it, or its schema, is not one
     * to run on.
     */
    static NodeServers open(GameQueueConfig config, GameNode.ResourceStack opened) {
      MySqlConfig login =
          new MySqlConfig(
              config.jdbcUrl(),
              config.mysqlUser(),
              config.mysqlPassword(),
              config.poolSize(),
              config.mysqlTls());
      MySql mysql = opened.add(MySqlPool.openForLogins(login, config.callTimeout()));
      MySqlServerCheck.of(mysql).requireUsable();
      Settings.agree(mysql, config.namespace(), config.slots());
      QueueIdentity identity = Settings.identity(mysql);
      Catalog catalog = CatalogReader.read(mysql).requireManaged();
      LayoutTable layouts = new LayoutTable(mysql);
      layouts.register(catalog);

      RedisConnector connector = opened.add(new RedisConnector(address(config)));
      RedisConnector ofSender = opened.add(RedisConnector.ofOneThread(address(config)));
      ControlConnection control = opened.add(new ControlConnection(connector));
      boolean unused = RedisIdentity.require(control.get(), identity);
      return new NodeServers(
          mysql,
          identity.database(),
          layouts,
          catalog,
          SlotKeys.all(config.namespace(), config.slots()),
          connector,
          ofSender,
          new PrimaryConnector(ofSender, new TermTable(mysql, config.slots())),
          control);
    }

    /** A connection to Redis, and a thread, that nothing else uses. */
    static ControlConnection apart(GameQueueConfig config, GameNode.ResourceStack opened) {
      return opened.add(
          new ControlConnection(opened.add(RedisConnector.ofOneThread(address(config)))));
    }

    private static RedisConfig address(GameQueueConfig config) {
      return new RedisConfig(
          config.redisUri(),
          new RedisLogin(config.redisUser(), config.redisPassword()),
          new RedisLogin(config.sentinelUser(), config.sentinelPassword()),
          config.redisTls(),
          RedisConfig.DEFAULT_TIMEOUT_MILLIS);
    }

    /** Ends a session; false when another one owns as far as Redis knows. */
    boolean close(SessionRef session) {
      return control.call(
          redis ->
              SessionScripts.close(redis, slots[session.slot()], session.owner(), session.id()));
    }

    SlotKeys slot(OwnerId owner) {
      return slots[owner.slot(slots.length)];
    }

    /**
     * The catalogue, after a table was altered: its column lists are kept before rows name them.
     */
    Catalog readAgain(WalWriter wal) {
      Catalog catalog = CatalogReader.read(mysql);
      layouts.register(catalog);
      wal.appendLayouts(layoutsOf(catalog));
      return catalog;
    }

    static List<WalRecord.Layout> layoutsOf(Catalog catalog) {
      return catalog.tables().stream()
          .map(t -> new WalRecord.Layout(t.name(), t.fingerprint(), t.layout()))
          .toList();
    }
  }

  /**
   * What a node tells Redis of itself: that it is alive, by its heartbeat alone, and how it is, for
   * operators; and MySQL, that it was started, which outlives a Redis that is emptied. Heals when
   * the last heartbeat is gone from Redis. Thread-safe; what it said last is still there when the
   * process was killed.
   */
  static final class NodeStatus {

    private final GameNode node;
    private final NodeHeartbeat heartbeat;
    private final ControlConnection ofHeartbeat;
    private final ProcessSigns signs;
    private final NodeTable started;
    private final ProcessIdentity process;
    private boolean ended;

    /** Of a node that has its servers by now; {@code ofHeartbeat} is used by nothing else. */
    NodeStatus(GameNode node, NodeHeartbeat heartbeat, ControlConnection ofHeartbeat) {
      this.node = node;
      this.heartbeat = heartbeat;
      this.ofHeartbeat = ofHeartbeat;
      this.signs = new ProcessSigns(node.config.namespace());
      this.started = new NodeTable(node.servers.mysql());
      this.process = ProcessIdentity.here(node.config.node(), GameQueue.class);
    }

    /** To be called every second; throws GameQueueException when Redis does not take it. */
    void beat() {
      if (!node.isAlive()) {
        takeBack(ofHeartbeat);
        return;
      }
      node.sender.takeAlong(ofHeartbeat);
      if (heartbeat.beat(ofHeartbeat, node.sender::hasHealedOn)) {
        node.sender.healAgain("its sign of life is gone from Redis");
      }
    }

    /** If Redis answers over this connection; else the heartbeat expires. */
    private void takeBack(ControlConnection over) {
      best("take back the sign of life", () -> heartbeat.stop(over));
    }

    /** Before anything is opened; both are told again and again. */
    void begin() {
      try {
        beat();
      } catch (RuntimeException e) {
        LOG.warn("cannot give a sign of life yet: {}", e.toString());
      }
      best("say how this node is", this::tell);
      try {
        started.add(node.process, process, node.wal.directory().toString());
      } catch (GameQueueException e) {
        LOG.warn("cannot note in MySQL that this node was started: {}", e.getMessage());
      }
    }

    /**
     * Says how the node is; to be called every few seconds; throws GameQueueException when Redis
     * does not take it.
     */
    synchronized void tell() {
      if (!ended) {
        say(now());
      }
    }

    private void say(NodeSign sign) {
      Map<String, String> fields = SignFields.of(sign);
      node.servers
          .control()
          .call(
              redis -> {
                signs.tell(redis, node.process, ProcessSigns.NODE, fields);
                return true;
              });
    }

    /**
     * The node ends.
     *
     * @param isKept whether its WAL is kept: else all of it is in MySQL, and nobody needs to know
     *     of it any more
     */
    void end(boolean isKept) {
      synchronized (this) {
        ended = true;
        if (isKept) {
          best("say that the WAL is kept", () -> say(now(NodeSign.CLOSED)));
        } else {
          forget(node.process);
        }
      }
      takeBack(node.servers.control());
    }

    /** What an earlier start of this node left is replayed: nobody needs to see to it any more. */
    void forget(String ofProcess) {
      best(
          "take back what process " + ofProcess + " said",
          () -> node.servers.control().call(redis -> signs.forget(redis, ofProcess)));
      best("note that process " + ofProcess + " is seen to", () -> started.remove(ofProcess));
    }

    private static void best(String what, Runnable call) {
      try {
        call.run();
      } catch (GameQueueException e) {
        LOG.debug("cannot {}: {}", what, e.getMessage());
      }
    }

    /** What the node can say of itself while it runs, without asking a server. */
    NodeSign now() {
      return now(node.isAlive() ? NodeSign.RUNNING : NodeSign.FAILED);
    }

    private NodeSign now(String phase) {
      NodeCounts counts = node.sessions.counts();
      return new NodeSign(
          process,
          phase,
          node.upkeep.mysqlAnswers(),
          new NodeSign.Sessions(node.sessions.open(), counts.sessionsLost()),
          new NodeSign.Commits(
              counts.commits(CommitOutcome.QUEUED),
              counts.rows(),
              counts.merged(),
              node.sender.waiting(),
              node.sender.roomUsed()),
          new NodeSign.Wal(
              node.wal.directory().toAbsolutePath().toString(),
              node.wal.bytesNow(),
              node.config.walLimits().maxBytes(),
              counts.journaled(),
              node.upkeep.oldestMillis()),
          new NodeSign.Healings(
              counts.heals(), counts.healedMillis(), counts.replayed(), counts.conflicts()));
    }
  }
}
