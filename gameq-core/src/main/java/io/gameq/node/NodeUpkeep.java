package io.gameq.node;

import io.gameq.MySqlException;
import io.gameq.agent.AgentRunner;
import io.gameq.agent.AgentRunner.Agent;
import io.gameq.agent.Duty;
import io.gameq.change.VersionClock;
import io.gameq.durability.DurableTracker;
import io.gameq.owner.OwnerId;
import io.gameq.owner.SessionId;
import io.gameq.redis.DurableNotices;
import io.gameq.redis.RedisServerCheck;
import io.gameq.redis.RedisServerCheck.EvictionWatch;
import io.gameq.redis.script.SessionScripts;
import io.gameq.redis.topic.DefinedTopic;
import io.gameq.wal.WalWriter.WalNeeds;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.stream.Collectors;

/**
 * What a node looks after in the background: rows that are in MySQL though the notice was lost,
 * rows that nobody holds any more, WAL records that nothing needs, and what Redis is to know. Its
 * duties run on one thread; {@link #healed}, {@link #restoreTopics} and what is asked are for any.
 */
final class NodeUpkeep implements AutoCloseable {
  private static final Duration SECOND = Duration.ofSeconds(1);
  private static final Duration CLOCK_EVERY = Duration.ofSeconds(60);

  /** Only a lost notice waits for it. */
  private static final Duration TAKEN_OVER_EVERY = Duration.ofSeconds(5);

  /** A full disk is not asked every second. */
  private static final Duration RETAIN_EVERY = Duration.ofSeconds(10);

  /** As often as a heartbeat. */
  private static final Duration STATUS_EVERY = Duration.ofSeconds(3);

  private final GameNode node;
  private final AgentRunner runner = new AgentRunner("gameq-upkeep");
  private final DurableNotices notices;
  private final SentRowNotices sent;
  private final MissingRows missing;
  private final EvictionWatch eviction = new EvictionWatch();

  private final OnDemand repeat =
      new OnDemand("repeat after a healing what Redis is to know", 0, this::repeatAfterHealing);

  /** Not again within a second: a server may be away, or Redis lose them again. */
  private final OnDemand topics =
      new OnDemand("put topics back into Redis", TimeUnit.SECONDS.toNanos(1), this::putTopics);

  private volatile long oldestMillis;
  private volatile boolean mysqlAnswers = true;

  /** Of a node that has its servers, WAL and callbacks. */
  NodeUpkeep(GameNode node) {
    this.node = node;
    sent = new SentRowNotices(node, runner::wake);
    missing = new MissingRows(node);
    notices =
        new DurableNotices(
            node.servers.connector(), node.config.namespace(), node.process, new Notices());
  }

  /** Listens to notices, once the sender is there. */
  void subscribe() {
    notices.keepSubscribed();
  }

  void start() {
    runner.start(
        List.of(
            everySecond("look which Redis primary counts", this::followTerm),
            repeat,
            sent,
            everySecond("tell Redis of closed sessions", node.closing::tell),
            everySecond("look whether Redis evicts", this::watchEviction),
            everySecond("listen to what is in MySQL", notices::keepSubscribed),
            Duty.every(TAKEN_OVER_EVERY, "look for sessions that were taken over", this::tellLost),
            everySecond("look for missing tables", node.views::lookForMissingTables),
            Duty.every(CLOCK_EVERY, "measure the clock of Redis", this::measureClock),
            everySecond("ask for rows that no notice will tell of", missing::settleOvertaken),
            everySecond("look for rows of which no notice came", missing::lookForSome),
            everySecond("report rows that are not replayed", missing::reportGivenUp),
            everySecond("let go of closed sessions", this::forgetDrained),
            Duty.every(RETAIN_EVERY, "remove WAL files that nothing needs", this::retain),
            topics,
            Duty.every(STATUS_EVERY, "tell Redis how this node is", node.status::tell)));
  }

  private static Agent everySecond(String name, Runnable work) {
    return Duty.every(SECOND, name, work);
  }

  @Override
  public void close() {
    runner.close();
    notices.close();
  }

  /** An agent that works once it is asked to; {@link #soon} is for any thread. */
  private final class OnDemand implements Agent {
    private final String name;
    private final long restNanos;
    private final Runnable work;
    private long doneNanos;
    private volatile boolean isDue;

    OnDemand(String name, long restNanos, Runnable work) {
      this.name = name;
      this.restNanos = restNanos;
      this.work = work;
      this.doneNanos = System.nanoTime() - restNanos;
    }

    void soon() {
      isDue = true;
      runner.wake();
    }

    @Override
    public String name() {
      return name;
    }

    @Override
    public int doWork() {
      if (!isDue || idleNanos() > 0) {
        return 0;
      }
      isDue = false; // first: it may be asked again at this moment
      doneNanos = System.nanoTime();
      boolean isDone = false;
      try {
        work.run();
        isDone = true;
      } finally {
        isDue |= !isDone;
      }
      return 1;
    }

    @Override
    public long idleNanos() {
      return isDue ? Math.max(0, doneNanos + restNanos - System.nanoTime()) : Long.MAX_VALUE;
    }
  }

  // --- what Redis tells

  private final class Notices implements DurableNotices.Listener {
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
              node.servers
                  .control()
                  .ask(redis -> SessionScripts.sessions(redis, node.servers.slots()[slot], owners));
          for (DurableTracker of : awaited) {
            SessionId now = owns.get(of.session().owner());
            if (now != null && now.isNewerThan(of.session().id()) && node.sessions.isOpen(of)) {
              boolean unused = of.whenLost().complete(null);
            }
          }
        });
  }

  /** A node leaves a primary that was demoted within a second or so, whatever it still answers. */
  private void followTerm() {
    try {
      node.sender.followTerm();
      mysqlAnswers |= node.sender.isHealed(); // else it was not asked
    } catch (MySqlException e) {
      mysqlAnswers = false;
      throw e;
    }
    node.sender.takeAlong(node.servers.control());
    node.servers.primary().giveSign(() -> node.servers.control().call(RedisServerCheck::check));
  }

  private void watchEviction() {
    boolean unused =
        eviction.mayEvict(() -> node.servers.control().call(RedisServerCheck::evictionPolicy));
  }

  private void measureClock() {
    node.clock.measure(node.servers.control());
  }

  // --- what Redis is told

  /** The sender has healed. */
  void healed() {
    repeat.soon();
    topics.soon();
  }

  /** Redis may lack topics. */
  void restoreTopics() {
    topics.soon();
  }

  /**
   * What an old Redis server may keep to itself: it may still hold the subscription to notices, and
   * nobody publishes there; and sessions that were re-asserted are to end again.
   */
  private void repeatAfterHealing() {
    notices.close(); // a duty subscribes again
    node.closing.tellAgain();
    sent.lookAll();
  }

  private void putTopics() {
    List<DefinedTopic> all = node.topics.all();
    boolean unused =
        node.servers
            .control()
            .call(
                redis -> {
                  DefinedTopic.put(redis, node.config.namespace(), all);
                  return true;
                });
  }

  // --- what nothing needs any more

  private void forgetDrained() {
    node.sessions.forgetDrained(node.sender::unregister);
  }

  private void retain() {
    noteOldest();
    if (node.sender.hasDied()) {
      return; // what nobody will answer is left to recovery
    }
    long from = node.wal.newestFileFrom(); // whatever is older is known to its tracker by now
    WalNeeds rows = node.sessions.needed(node.sender.recent().openUpTo(from));
    node.wal.retain(new WalNeeds(rows.from(), rows.records(), node.sender.recent().keptFrom()));
  }

  // --- what is asked

  /** Whether rows were reported as lost: then the WAL is the only place that has them. */
  boolean hadConflicts() {
    return missing.hasReported();
  }

  /**
   * How long the oldest change waited that was not known to be in MySQL, at the last look, ms, 1 at
   * least; 0 when there was none.
   */
  long oldestMillis() {
    return oldestMillis;
  }

  /** Looks for the oldest change anew. */
  void noteOldest() {
    long oldest = node.sessions.oldestVersion();
    oldestMillis =
        oldest == Long.MAX_VALUE
            ? 0
            : Math.max(1, node.clock.getAsLong() - VersionClock.millis(oldest));
  }

  /** Whether MySQL answered when it was asked last. */
  boolean mysqlAnswers() {
    return mysqlAnswers;
  }
}
