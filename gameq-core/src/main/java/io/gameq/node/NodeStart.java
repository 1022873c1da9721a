package io.gameq.node;

import io.gameq.GameQueueConfig;
import io.gameq.agent.Agent;
import io.gameq.agent.AgentRunner;
import io.gameq.agent.Duty;
import io.gameq.backlog.NodePressure;
import io.gameq.backlog.PressureWatch;
import io.gameq.backlog.SharedBacklog;
import io.gameq.change.VersionClock;
import io.gameq.commit.CommitSender;
import io.gameq.commit.RecentMessages;
import io.gameq.commit.SenderConfig;
import io.gameq.commit.SenderEvents;
import io.gameq.commit.SenderRedis;
import io.gameq.commit.SenderWal;
import io.gameq.durability.Callbacks;
import io.gameq.durability.DurableTracker;
import io.gameq.durability.NodeSessions;
import io.gameq.healing.AdoptedHalves;
import io.gameq.healing.DurableTruth;
import io.gameq.mysql.tables.IdTable;
import io.gameq.mysql.tables.OwnerReader;
import io.gameq.mysql.tables.OwnerTable;
import io.gameq.mysql.tables.TopicTable;
import io.gameq.redis.ControlConnection;
import io.gameq.redis.DurableNotices;
import io.gameq.redis.RedisClock;
import io.gameq.redis.Slots;
import io.gameq.redis.script.NodeHeartbeat;
import io.gameq.redis.script.OpenOwners;
import io.gameq.redis.script.ProcessSigns;
import io.gameq.rows.CurrentCatalog;
import io.gameq.rows.RowCodec;
import io.gameq.sign.NodeCounts;
import io.gameq.upkeep.ClosedSessionNotices;
import io.gameq.upkeep.NodeUpkeep;
import io.gameq.upkeep.RepeatAfterHealing;
import io.gameq.upkeep.SentRowsTelling;
import io.gameq.upkeep.TopicRestore;
import io.gameq.view.GameTables;
import io.gameq.view.OwnerViews;
import io.gameq.wal.JvmFlags;
import io.gameq.wal.LeftWals;
import io.gameq.wal.WalWriter;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Starts a node, once: connects and checks MySQL and Redis, settles what earlier starts left, makes
 * a WAL, then starts the sender and the background work. Not thread-safe.
 */
final class NodeStart {
  private static final Logger LOG = LoggerFactory.getLogger(NodeStart.class);

  private static final Duration BEAT_EVERY = Duration.ofSeconds(1);
  private static final Duration ASK_EVERY = Duration.ofSeconds(1);

  /** As often as a heartbeat. */
  private static final Duration TELL_EVERY = Duration.ofSeconds(3);

  /** Beyond the time of a call, until the node has taken up what it opened. */
  private static final Duration OPENING_MARGIN = Duration.ofSeconds(10);

  private final GameQueueConfig config;
  private final SecureRandom random = new SecureRandom();

  /** Names this start of the node: in its WAL, in the nonces of its sessions, as a sign of life. */
  private final String process = "%08x".formatted(random.nextInt());

  private final ResourceStack opened = new ResourceStack();
  private final NodeSessions sessions = new NodeSessions(new NodeCounts());
  private final RedisClock redisClock = new RedisClock();
  private final VersionClock versions = new VersionClock(redisClock);

  NodeStart(GameQueueConfig config) {
    this.config = config;
  }

  /** Closes what it had opened when it fails. Asks no server before the JVM is fit. */
  GameNode start() {
    JvmFlags.check();
    try {
      GameNode node = connectAndStart();
      LOG.info(
          "node {} opened namespace {} with WAL {}",
          config.node(),
          config.namespace(),
          node.wal().directory());
      return node;
    } catch (RuntimeException e) {
      opened.close();
      throw e;
    }
  }

  private GameNode connectAndStart() {
    NodeMySql mysql = NodeMySql.open(config, opened);
    NodeRedis redis = NodeRedis.open(config, mysql.server(), opened);
    OwnerTable owners = new OwnerTable(mysql.server());
    StateSigns stateSigns =
        new StateSigns(redis.control(), new ProcessSigns(config.namespace()), process);
    EarlierWalPolicy.apply(config, mysql.server(), mysql.atStart(), redis.primary())
        .forEach(replayed -> stateSigns.forget(LeftWals.process(replayed)));
    WalWriter wal = wal(mysql);
    SenderWal to = new SenderWal(wal, versions, new RecentMessages(config.messageKeep()));
    GameTables tables =
        new GameTables(
            mysql.atStart(),
            new CurrentCatalog(mysql.atStart(), () -> mysql.readAgain(wal)),
            config.clock());
    RowCodec codec = new RowCodec(mysql.layouts(), config.clock());
    OwnerViews views = new OwnerViews(tables, codec, new OwnerReader(mysql.server()));

    Callbacks callbacks = opened.add(Callbacks.on(config.callbacks()));
    NodeState state = new NodeState(config, callbacks);
    NodeCalls calls = new NodeCalls(config, opened);
    NodeHeartbeat heartbeat =
        new NodeHeartbeat(config.namespace(), process, config.node(), redisClock);
    // A connection, and threads, that nothing else uses: nothing holds up the signs of life.
    ControlConnection ofSigns = NodeRedis.apart(config, opened);
    ClosedSessionNotices closed = new ClosedSessionNotices(redis::close);
    AgentRunner upkeepThread = new AgentRunner("gameq-upkeep");
    SentRowsTelling sent =
        new SentRowsTelling(
            new SentRowsTelling.Servers(redis.control(), redis.slots(), views),
            sessions,
            versions,
            new SentRowsTelling.Here(
                process, config.callTimeout().plus(OPENING_MARGIN), upkeepThread::wake));
    DurableNotices notices =
        new DurableNotices(redis.connector(), config.namespace(), process, tellSession(sent));
    RepeatAfterHealing afterHealing =
        new RepeatAfterHealing(notices, closed, sessions, sent, upkeepThread::wake);
    TopicTable topics = new TopicTable(mysql.server());
    TopicRestore topicRestore =
        new TopicRestore(topics, redis.control(), config.namespace(), upkeepThread::wake);
    CommitSender sender =
        opened.add(
            new CommitSender(
                senderConfig(redis),
                new SenderRedis(
                    redis.primary(), redis.ofSender().eventLoop(), redisClock, heartbeat),
                to,
                new DurableTruth(owners, new AdoptedHalves(redis.slots(), owners, views::versions)),
                events(afterHealing, topicRestore, state)));
    opened.add(notices).keepSubscribed();

    SessionClosing closing = opened.add(new SessionClosing(sessions, sender, redis, calls, closed));
    OwnerOpening opening =
        new OwnerOpening(
            new OwnerOpening.Parts(
                here(redis, wal),
                owners,
                views,
                new PrimaryForOpens(
                    new ConnectionAfterHealing(redis.control(), sender),
                    redis.control(),
                    new OpenOwners(
                        config.namespace(),
                        process,
                        (owner, session) ->
                            sessions.findOpen(owner.encoded(), session.text()) != null),
                    sender),
                new SessionAdoption(
                    sessions, sender, versions, tables, config.limits().commitBytes()),
                closing,
                calls,
                state));

    NodeUpkeep upkeep =
        new NodeUpkeep(
            config,
            new NodeUpkeep.Servers(
                redis.slots(),
                redis.control(),
                redis.primary(),
                redisClock,
                notices,
                owners,
                views),
            new NodeUpkeep.Node(sessions, closed, sender, to, callbacks),
            afterHealing,
            sent);
    calls.know(
        new NodeCalls.Known(
            sender::isHealed, upkeep::mysqlAnswers, mysql.server()::hasConnections));
    SignsOfLife signs = new SignsOfLife(heartbeat, ofSigns, sender, state);
    FiguresNow figures =
        new FiguresNow(config, FiguresNow.here(config), state, sessions, sender, wal, upkeep);
    signs.giveFirst();
    stateSigns.tellFirst(figures.sign());
    List<Agent> duties = new ArrayList<>(upkeep.duties());
    duties.add(topicRestore);
    duties.add(
        Duty.every(
            TELL_EVERY, "tell Redis how this node is", () -> stateSigns.tell(figures.sign())));
    opened.add(upkeepThread).start(duties);
    opened
        .add(new AgentRunner("gameq-heartbeat"))
        .start(Duty.every(BEAT_EVERY, "give a sign of life", signs::give));
    return new GameNode(
        config,
        state,
        tables,
        codec,
        callbacks,
        sessions,
        wal,
        sender,
        redis,
        redisClock,
        calls,
        opening,
        new OwnerReading(redis, views, versions, calls),
        new NodeIds(new IdTable(mysql.server()), redis, codec, calls),
        topics,
        topicRestore,
        new Inboxes(sessions, sender, process, config.slots()),
        closing,
        upkeep,
        signs,
        figures,
        stateSigns,
        pressure(callbacks),
        opened);
  }

  /** Where no threshold is set, nobody asks. */
  private NodePressure pressure(Callbacks callbacks) {
    NodePressure pressure =
        new NodePressure(
            config.pressureLimits(),
            config.maxSlowdown().toMillis(),
            of -> callbacks.execute(() -> config.onPressure().accept(of)));
    if (!config.pressureLimits().isEmpty()) {
      PressureWatch watch =
          new PressureWatch(
              pressure,
              NodeRedis.apart(config, opened),
              SharedBacklog.summary(
                  config.namespace(), new Slots(config.namespace(), config.slots())));
      opened
          .add(new AgentRunner("gameq-pressure"))
          .start(
              Duty.every(
                  Duration.ZERO, ASK_EVERY::toNanos, "ask what waits for MySQL", watch::look));
    }
    return pressure;
  }

  private WalWriter wal(NodeMySql mysql) {
    return opened.add(
        WalWriter.create(
            new WalWriter.Start(
                config.walDirectory(),
                config.namespace(),
                config.slots(),
                config.node(),
                process,
                config.clock().millis()),
            config.walLimits(),
            NodeMySql.layoutsOf(mysql.atStart())));
  }

  private OpeningPorts.Here here(NodeRedis redis, WalWriter wal) {
    return new OpeningPorts.Here(
        config.node(),
        wal.id(),
        redis.slots(),
        config.mergeWindow().toMillis(),
        () -> process + "%08x".formatted(random.nextInt()));
  }

  private SenderConfig senderConfig(NodeRedis redis) {
    return new SenderConfig(
        redis.slots(),
        () -> redisClock.getAsLong() + config.mergeWindow().toMillis(),
        config.limits(),
        config.whenRedisIsFull(),
        config.whenRedisIsAway());
  }

  private SenderEvents events(
      RepeatAfterHealing afterHealing, TopicRestore topicRestore, NodeState state) {
    return new SenderEvents() {
      @Override
      public NodeCounts counts() {
        return sessions.counts();
      }

      @Override
      public void healed() {
        afterHealing.healed();
        topicRestore.soon();
      }

      @Override
      public void notReplayed(Set<Long> sequences) {
        sessions.gaveUp(sequences);
      }

      @Override
      public void died(Throwable cause) {
        state.died(cause);
      }
    };
  }

  /** Tells the session that a notice is about. */
  private DurableNotices.Listener tellSession(SentRowsTelling sent) {
    return new DurableNotices.Listener() {
      @Override
      public void durable(
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

      @Override
      public void lost(String owner, String session) {
        DurableTracker tracker = sessions.findOpen(owner, session);
        if (tracker != null) {
          tracker.news().tellLost();
        }
      }

      @Override
      public void asked(String owner, String session) {
        DurableTracker tracker = sessions.findOpen(owner, session);
        if (tracker != null) {
          tracker.news().tellAsked();
        }
      }

      @Override
      public void sent(int slot) {
        sent.soon(slot);
      }
    };
  }
}
