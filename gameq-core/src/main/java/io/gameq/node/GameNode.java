package io.gameq.node;

import static java.util.concurrent.TimeUnit.MILLISECONDS;
import static java.util.concurrent.TimeUnit.SECONDS;

import io.gameq.ClosedException;
import io.gameq.GameQueueException;
import io.gameq.agent.AgentRunner;
import io.gameq.agent.Duty;
import io.gameq.backlog.NodePressure;
import io.gameq.backlog.SharedBacklog;
import io.gameq.change.Commit;
import io.gameq.change.VersionClock;
import io.gameq.commit.CommitSender;
import io.gameq.config.EarlierWals;
import io.gameq.config.GameQueueConfig;
import io.gameq.config.WhenCommitFails;
import io.gameq.durability.Callbacks;
import io.gameq.durability.DurableTracker;
import io.gameq.durability.NodeSessions;
import io.gameq.healing.DurableTruth;
import io.gameq.healing.LeftWalReplay;
import io.gameq.mysql.tables.DurableRows;
import io.gameq.mysql.tables.OwnerReader;
import io.gameq.mysql.tables.OwnerTable;
import io.gameq.mysql.tables.TopicTable;
import io.gameq.node.NodeServers.ResourceStack;
import io.gameq.owner.SessionRef;
import io.gameq.redis.ControlConnection;
import io.gameq.redis.RedisClock;
import io.gameq.redis.Slots;
import io.gameq.redis.script.NodeSigns;
import io.gameq.redis.script.NodeSigns.NodeHeartbeat;
import io.gameq.redis.script.NodeSigns.NodeHeartbeat.NameHolder;
import io.gameq.redis.script.NodeSigns.ProcessSigns;
import io.gameq.rows.CurrentCatalog;
import io.gameq.rows.RowCodec;
import io.gameq.sign.NodeCounts;
import io.gameq.topic.Limits;
import io.gameq.view.GameRows;
import io.gameq.view.OwnerViews;
import io.gameq.wal.WalDirectory;
import io.gameq.wal.WalWriter;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What a running node works with: its start connects and checks MySQL and Redis, settles what
 * earlier starts left, makes a WAL, then starts the sender. Thread-safe.
 */
final class GameNode implements SessionHost {
  private static final Logger LOG = LoggerFactory.getLogger(GameNode.class);

  private static final Duration ASK_EVERY = Duration.ofSeconds(1);

  /** Somewhat longer than the name of a node that is gone. */
  private static final long NAME_WAIT_NANOS = SECONDS.toNanos(NodeSigns.LIFE_SECONDS + 3);

  private static final long NAME_LOOK_NANOS = MILLISECONDS.toNanos(250);

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
  final NodeHeartbeat heartbeat;
  final OwnerTable owners;
  final TopicTable topics;
  final GameRows rows;
  final OwnerViews views;

  /** WALs of earlier starts that were replayed whole. */
  final List<Path> replayed;

  final WalWriter wal;

  /** Run the game's own code. */
  final Callbacks callbacks;

  final CommitSender sender;
  final NodeCalls calls;
  private final WriterLook writerLook;
  final ClosedSessions closing;

  /** Which thresholds of the backlog are passed. */
  final NodePressure pressure;

  /** The sender has healed, and Redis has not been told again yet what it may have lost. */
  final AtomicBoolean hasHealed = new AtomicBoolean();

  /** Redis may lack topics. */
  final AtomicBoolean lacksTopics = new AtomicBoolean();

  /** Whether MySQL answered when it was asked last. */
  volatile boolean mysqlAnswers = true;

  private final AtomicBoolean closed = new AtomicBoolean();

  /** Why the node cannot go on; null while it can. */
  private volatile @Nullable Throwable death;

  /**
   * Throws as {@link io.gameq.GameQueue#open(GameQueueConfig)}.
   *
   * @param opened takes in what has to be closed, also when this throws
   */
  GameNode(GameQueueConfig config, ResourceStack opened) {
    this.config = config;
    servers = NodeServers.open(config, opened);
    owners = new OwnerTable(servers.mysql());
    topics = new TopicTable(servers.mysql());
    heartbeat = new NodeHeartbeat(config.namespace(), process, config.node(), clock);
    takeName();
    opened.add(this::leaveName);
    replayed = replayEarlierWals();
    wal = opened.add(newWal());
    rows =
        new GameRows(
            servers.atStart(),
            new CurrentCatalog(servers.atStart(), () -> servers.readAgain(wal)),
            new RowCodec(servers.layouts(), config.clock()),
            config.clock(),
            config.limits().rowBytes());
    views = new OwnerViews(rows, new OwnerReader(servers.mysql()));
    callbacks = opened.add(Callbacks.on(config.callbacks()));
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
                this::healed,
                this::died));
    calls =
        opened.add(
            new NodeCalls(
                config,
                new NodeCalls.Servers(
                    sender::isHealed, () -> mysqlAnswers, servers.mysql()::hasConnections)));
    ProcessSigns signs = new ProcessSigns(config.namespace());
    writerLook = new WriterLook(calls, () -> servers.ask(signs::all));
    closing = opened.add(new ClosedSessions(servers, sessions, sender, calls));
    pressure = startPressure(opened);
  }

  /**
   * Takes the name of the node. Waits for one that may have died with it: as long as a sign of life
   * lasts, unless a WAL that nobody writes any more shows that it is gone.
   *
   * @throws GameQueueException when another process has the name, and is alive
   */
  private void takeName() {
    NameHolder other = tryName();
    if (other != null) {
      LOG.warn("waiting whether node {}, process {}, is alive", config.node(), other.process());
    }
    for (long began = System.nanoTime(); other != null; other = tryName()) {
      if (System.nanoTime() - began > NAME_WAIT_NANOS || Thread.currentThread().isInterrupted()) {
        throw new GameQueueException(
            ("node %s runs already, on host %s (process %s): give each node of a namespace a name"
                    + " of its own, or stop that one first")
                .formatted(config.node(), other.host(), other.process()));
      }
      LockSupport.parkNanos(NAME_LOOK_NANOS);
    }
  }

  private @Nullable NameHolder tryName() {
    return servers.ask(redis -> heartbeat.takeName(redis, this::hasLeftWal));
  }

  /** Of a start that failed: the next one does not wait for it. */
  private void leaveName() {
    if (!isClosed()) {
      heartbeat.stop(servers.control());
    }
  }

  private boolean hasLeftWal(NameHolder other) {
    return WalDirectory.left(config.walDirectory(), config.node()).stream()
        .anyMatch(wal -> WalDirectory.process(wal).equals(other.process()));
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
      LOG.info("an earlier start of node {} left the incomplete WAL {}", config.node(), wal);
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
      LOG.warn("{} incomplete WALs are left to 'gameq-recovery plan'", wals.size());
      return List.of();
    }
    return LeftWalReplay.run(
        servers.primary(),
        new DurableRows(servers.mysql(), servers.atStart()),
        config.namespace(),
        servers.slots(),
        servers.database(),
        config.messageKeep(),
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
  private NodePressure startPressure(ResourceStack opened) {
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

  private void healed() {
    hasHealed.set(true);
    lacksTopics.set(true);
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

  @Override
  public boolean isClosed() {
    return closed.get();
  }

  @Override
  public void requireOpen() {
    if (isClosed()) {
      throw new ClosedException("node " + config.node() + " is closed: open a GameQueue anew");
    }
  }

  /** From now on it is closed; false when it was before. */
  boolean close() {
    return !closed.getAndSet(true);
  }

  // --- for its sessions

  @Override
  public GameRows rows() {
    return rows;
  }

  @Override
  public Limits limits() {
    return config.limits();
  }

  @Override
  public WhenCommitFails whenCommitFails() {
    return config.whenCommitFails();
  }

  @Override
  public int slots() {
    return config.slots();
  }

  @Override
  public String process() {
    return process;
  }

  @Override
  public NodeSessions sessions() {
    return sessions;
  }

  @Override
  public Callbacks callbacks() {
    return callbacks;
  }

  @Override
  public long deadline() {
    return calls.deadline();
  }

  @Override
  public void admit(long deadlineNanos) {
    pressure.admit(deadlineNanos);
  }

  @Override
  public void submit(Commit commit, long deadlineNanos) {
    sender.submit(commit, deadlineNanos);
  }

  @Override
  public void hurry() {
    sender.hurry();
  }

  @Override
  public CompletableFuture<String> writers() {
    return writerLook.begin();
  }

  @Override
  public void registerInbox(SessionRef inbox, DurableTracker tracker) {
    sender.registerInbox(inbox, tracker);
  }

  @Override
  public void flushNow(List<SessionRef> of) {
    closing.flushNow(of);
  }

  @Override
  public void awaitDurable(List<DurableTracker> of, Duration timeout) {
    closing.awaitDurable(of, timeout);
  }

  @Override
  public void close(DurableTracker session, long deadlineNanos) {
    closing.close(session, deadlineNanos);
  }
}
