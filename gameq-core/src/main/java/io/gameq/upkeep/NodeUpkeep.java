package io.gameq.upkeep;

import io.gameq.GameQueueConfig;
import io.gameq.MySqlException;
import io.gameq.agent.Agent;
import io.gameq.agent.Duty;
import io.gameq.change.VersionClock;
import io.gameq.commit.CommitSender;
import io.gameq.commit.RecentMessages;
import io.gameq.commit.SenderWal;
import io.gameq.durability.Callbacks;
import io.gameq.durability.NodeSessions;
import io.gameq.mysql.tables.OwnerTable;
import io.gameq.redis.ControlConnection;
import io.gameq.redis.DurableNotices;
import io.gameq.redis.EvictionWatch;
import io.gameq.redis.PrimaryConnector;
import io.gameq.redis.RedisClock;
import io.gameq.redis.SlotKeys;
import io.gameq.view.OwnerViews;
import io.gameq.wal.WalNeeds;
import io.gameq.wal.WalWriter;
import java.time.Duration;
import java.util.List;

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
}
