package io.gameq.node;

import io.gameq.GameQueueException;
import io.gameq.MySqlException;
import io.gameq.agent.AgentRunner;
import io.gameq.agent.AgentRunner.Agent;
import io.gameq.agent.Duty;
import io.gameq.change.VersionClock;
import io.gameq.durability.DurableTracker;
import io.gameq.mysql.tables.NodeTable;
import io.gameq.node.NodeServers.ResourceStack;
import io.gameq.owner.OwnerId;
import io.gameq.owner.SessionId;
import io.gameq.redis.ChannelListener;
import io.gameq.redis.ControlConnection;
import io.gameq.redis.RedisServerCheck;
import io.gameq.redis.RedisServerCheck.EvictionWatch;
import io.gameq.redis.script.NodeSigns.ProcessSigns;
import io.gameq.redis.script.SessionScripts;
import io.gameq.redis.topic.DefinedTopic;
import io.gameq.sign.NodeCounts;
import io.gameq.sign.NodeCounts.CommitOutcome;
import io.gameq.sign.NodeSign;
import io.gameq.sign.ProcessIdentity;
import io.gameq.sign.Protocol.UnspokenProtocolException;
import io.gameq.sign.SignFields;
import io.gameq.wal.WalDirectory;
import io.gameq.wal.WalWriter.WalNeeds;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What a node looks after in the background: rows that are in MySQL though the notice was lost,
 * rows that nobody holds any more, WAL records that nothing needs, and what Redis is to know: that
 * the node is alive, by its heartbeat alone, and how it is, for operators. MySQL is told that it
 * was started, which outlives a Redis that is emptied. The duties run on one thread, the heartbeat
 * on another; what is asked is for any. What it said last is still there when the process was
 * killed.
 */
final class NodeUpkeep implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(NodeUpkeep.class);

  private static final Duration SECOND = Duration.ofSeconds(1);
  private static final Duration CLOCK_EVERY = Duration.ofSeconds(60);

  /** Only a lost notice waits for it. */
  private static final Duration TAKEN_OVER_EVERY = Duration.ofSeconds(5);

  /** A full disk is not asked every second. */
  private static final Duration RETAIN_EVERY = Duration.ofSeconds(10);

  private static final Duration STATUS_EVERY = Duration.ofSeconds(3);

  private final GameNode node;
  private final AgentRunner runner = new AgentRunner("gameq-upkeep");
  private final OwnerOpener opening;
  private final ControlConnection ofHeartbeat;
  private final ChannelListener notices;
  private final SentRowNotices sent;
  private final MissingRows missing;
  private final EvictionWatch eviction = new EvictionWatch();
  private final ProcessSigns signs;
  private final NodeTable started;
  private final ProcessIdentity process;
  private boolean hasEnded;
  private volatile long oldestMillis;

  /** Begins to look after a node. */
  NodeUpkeep(GameNode node, OwnerOpener opening, ResourceStack opened) {
    this.node = node;
    this.opening = opening;
    sent = new SentRowNotices(node, runner::wake);
    missing = new MissingRows(node);
    notices =
        ChannelListener.ofProcess(
            node.servers.connector(), node.config.namespace(), node.process, new Notices());
    signs = new ProcessSigns(node.config.namespace());
    started = new NodeTable(node.servers.mysql());
    process = ProcessIdentity.here(node.config.node());
    // A connection, and a thread, that nothing else uses: nothing holds up the heartbeat.
    ofHeartbeat = NodeServers.apart(node.config, opened);
    opened.add(this);
    notices.keep();
    tellStarted();
    runner.start(duties());
    opened
        .add(new AgentRunner("gameq-heartbeat"))
        .start(everySecond("give a sign of life", this::beat));
  }

  private List<Agent> duties() {
    return List.of(
        everySecond("look which Redis primary counts", this::followTerm),
        everySecond("repeat after a healing what Redis is to know", this::repeatAfterHealing),
        sent,
        everySecond("tell Redis of closed sessions", node.closing::tell),
        everySecond("open again what Redis lost in an open", opening::finishSome),
        everySecond(
            "look whether Redis evicts",
            () ->
                eviction.mayEvict(
                    () -> node.servers.control().call(RedisServerCheck::evictionPolicy))),
        everySecond("listen to what is in MySQL", notices::keep),
        Duty.every(TAKEN_OVER_EVERY, "look for sessions that were taken over", this::tellLost),
        everySecond("look for missing tables", node.rows::lookForMissingTables),
        Duty.every(
            CLOCK_EVERY,
            "measure the clock of Redis",
            () -> node.clock.measure(node.servers.control())),
        everySecond("ask for rows that no notice will tell of", missing::settleOvertaken),
        everySecond("look for rows of which no notice came", missing::lookForSome),
        everySecond("report rows that are not replayed", missing::reportGivenUp),
        everySecond(
            "let go of closed sessions",
            () -> node.sessions.forgetDrained(node.sender::unregister)),
        Duty.every(RETAIN_EVERY, "remove WAL files that nothing needs", this::retain),
        everySecond("put topics back into Redis", this::putTopics),
        Duty.every(STATUS_EVERY, "tell Redis how this node is", this::tell));
  }

  private static Agent everySecond(String name, Runnable work) {
    return Duty.every(SECOND, name, work);
  }

  @Override
  public void close() {
    runner.close();
    notices.close();
  }

  // --- what Redis tells

  private final class Notices implements ChannelListener.Notices {
    @Override
    public void durable(
        String owner,
        String session,
        long version,
        Map<String, Long> setAside,
        Map<String, Long> kept) {
      DurableTracker tracker = node.sessions.find(owner, session);
      if (tracker != null) {
        tracker.durable(version, setAside, kept);
      }
    }

    @Override
    public void lost(String owner, String session) {
      tellOpen(owner, session, DurableTracker::whenLost);
    }

    @Override
    public void asked(String owner, String session) {
      tellOpen(owner, session, DurableTracker::whenAsked);
      held(owner, session);
    }

    @Override
    public void held(String owner, String session) {
      opening.held(OwnerId.ofEncoded(owner), SessionId.parse(session));
    }

    @Override
    public void sent(int slot) {
      sent.soon(slot);
    }

    private void tellOpen(
        String owner, String session, Function<DurableTracker, CompletableFuture<Void>> news) {
      DurableTracker tracker = node.sessions.findOpen(owner, session);
      if (tracker != null) {
        boolean unused = news.apply(tracker).complete(null);
      }
    }
  }

  /**
   * Asks Redis for sessions that another one took over though the notice of it was lost: only for
   * those whose game waits to be told. One MGET for each 500 sessions of a slot.
   */
  private void tellLost() {
    Map<Integer, List<DurableTracker>> bySlot =
        node.sessions.all().stream()
            .filter(
                of ->
                    !of.whenLost().isDone()
                        && of.whenLost().getNumberOfDependents() > 0
                        && node.sessions.isOpen(of))
            .collect(Collectors.groupingBy(of -> of.session().slot()));
    bySlot.forEach(
        (slot, awaited) -> {
          List<OwnerId> owners = awaited.stream().map(of -> of.session().owner()).toList();
          Map<OwnerId, SessionId> owns =
              node.servers.ask(
                  redis -> SessionScripts.sessions(redis, node.servers.slots()[slot], owners));
          for (DurableTracker of : awaited) {
            SessionId now = owns.get(of.session().owner());
            if (now != null && now.isNewerThan(of.session().id()) && node.sessions.isOpen(of)) {
              boolean unused = of.whenLost().complete(null);
            }
          }
        });
  }

  /**
   * A node leaves a primary that was demoted within a second or so, whatever it still answers; it
   * ends as soon once its game is at a protocol that it does not speak.
   */
  private void followTerm() {
    try {
      followPrimary();
    } catch (UnspokenProtocolException e) {
      node.sender.end(e);
      throw e;
    }
  }

  private void followPrimary() {
    try {
      node.sender.followTerm();
      node.mysqlAnswers |= node.sender.isHealed(); // else it was not asked
    } catch (MySqlException e) {
      node.mysqlAnswers = false;
      throw e;
    }
    node.sender.takeAlong(node.servers.control());
    node.servers.primary().giveSign(() -> node.servers.control().call(RedisServerCheck::check));
  }

  // --- what Redis is told

  /**
   * What an old Redis server may keep to itself: it may still hold the subscription to notices, and
   * nobody publishes there; and sessions that were re-asserted are to end again.
   */
  private void repeatAfterHealing() {
    if (node.hasHealed.getAndSet(false)) {
      notices.close(); // a duty subscribes again
      node.closing.tellAgain();
      sent.lookAll();
    }
  }

  private void putTopics() {
    if (!node.lacksTopics.getAndSet(false)) { // first: Redis may lose them again
      return;
    }
    try {
      List<DefinedTopic> all = node.topics.all();
      node.servers.call(redis -> DefinedTopic.put(redis, node.config.namespace(), all));
    } catch (RuntimeException e) {
      node.lacksTopics.set(true);
      throw e;
    }
  }

  /** Gives a sign of life. Heals when the last one is gone from Redis. */
  private void beat() {
    if (!node.isAlive()) {
      takeBack(ofHeartbeat);
      return;
    }
    node.sender.takeAlong(ofHeartbeat);
    if (node.heartbeat.beat(ofHeartbeat, node.sender::hasHealedOn)) {
      node.sender.healAgain("its sign of life is gone from Redis");
    }
  }

  /** If Redis answers over this connection; else the heartbeat expires. */
  private void takeBack(ControlConnection over) {
    best("take back the sign of life", () -> node.heartbeat.stop(over));
  }

  /** Before anything is opened; Redis is told again and again. */
  private void tellStarted() {
    for (Path wal : node.replayed) { // nobody needs to see to these any more
      forget(WalDirectory.process(wal));
    }
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

  private synchronized void tell() {
    if (!hasEnded) {
      say(sign());
    }
  }

  private void say(NodeSign sign) {
    Map<String, String> fields = SignFields.of(sign);
    node.servers.call(redis -> signs.tell(redis, node.process, ProcessSigns.NODE, fields));
  }

  /**
   * The node ends.
   *
   * @param isKept whether its WAL is kept: else all of it is in MySQL, and nobody needs to know of
   *     it any more
   */
  void tellEnded(boolean isKept) {
    synchronized (this) {
      hasEnded = true;
      if (isKept) {
        noteOldest();
        best("say that the WAL is kept", () -> say(sign(NodeSign.CLOSED)));
      } else {
        forget(node.process);
      }
    }
    takeBack(node.servers.control());
  }

  private void forget(String ofProcess) {
    best(
        "take back what process " + ofProcess + " said",
        () -> node.servers.call(redis -> signs.forget(redis, ofProcess)));
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
  NodeSign sign() {
    return sign(node.isAlive() ? NodeSign.RUNNING : NodeSign.FAILED);
  }

  private NodeSign sign(String phase) {
    NodeCounts counts = node.sessions.counts();
    return new NodeSign(
        process,
        phase,
        node.servers.primary().protocol().version(),
        node.mysqlAnswers,
        new NodeSign.Sessions(node.sessions.open(), counts.sessionsLost.sum()),
        new NodeSign.Commits(
            counts.commits(CommitOutcome.QUEUED),
            counts.rows.sum(),
            counts.merged.sum(),
            node.sender.waiting(),
            node.sender.roomUsed()),
        new NodeSign.Wal(
            node.wal.directory().toAbsolutePath().toString(),
            node.wal.bytesNow(),
            node.config.walLimits().maxBytes(),
            counts.journaled(),
            oldestMillis),
        new NodeSign.Healings(
            counts.heals.sum(),
            counts.healedMillis(),
            counts.replayed.sum(),
            counts.conflicts.sum()));
  }

  // --- what nothing needs any more

  private void retain() {
    noteOldest();
    if (node.sender.hasDied()) {
      return; // what nobody will answer is left to recovery
    }
    long from = node.wal.newestFileFrom(); // whatever is older is known to its tracker by now
    WalNeeds rows = node.sessions.needed(node.sender.recent().openUpTo(from));
    node.wal.retain(new WalNeeds(rows.from(), rows.records(), node.sender.recent().keptFrom()));
  }

  /**
   * Looks how long the oldest change waits that is not known to be in MySQL, ms, 1 at least; 0 when
   * there is none.
   */
  private void noteOldest() {
    long oldest = node.sessions.oldestVersion();
    oldestMillis =
        oldest == Long.MAX_VALUE
            ? 0
            : Math.max(1, node.clock.getAsLong() - VersionClock.millis(oldest));
  }
}
