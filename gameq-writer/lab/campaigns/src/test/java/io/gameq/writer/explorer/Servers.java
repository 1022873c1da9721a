package io.gameq.writer.explorer;

import io.gameq.agent.RepeatedWarnings;
import io.gameq.mysql.MySqlPool.MySql;
import io.gameq.mysql.flush.FlushPlan;
import io.gameq.mysql.flush.FlushTransaction;
import io.gameq.mysql.flush.GuardedWrites;
import io.gameq.mysql.schema.CatalogReader;
import io.gameq.mysql.tables.OwnerReader;
import io.gameq.mysql.tables.OwnerTable;
import io.gameq.mysql.tables.TermTable;
import io.gameq.owner.OwnerId;
import io.gameq.redis.RedisConnection;
import io.gameq.redis.RedisConnector;
import io.gameq.redis.RedisConnector.RedisConfig;
import io.gameq.redis.SlotKeys;
import io.gameq.redis.Slots;
import io.gameq.redis.script.ClaimScript;
import io.gameq.redis.script.ClaimScript.Claim;
import io.gameq.redis.script.CommitScript;
import io.gameq.rows.CurrentCatalog;
import io.gameq.rows.CurrentCatalog.Catalog;
import io.gameq.rows.EncodedRow;
import io.gameq.rows.RowCodec;
import io.gameq.rows.Table;
import io.gameq.servers.GameDatabase;
import io.gameq.servers.MySqlServer;
import io.gameq.servers.TestServers;
import io.gameq.term.Term;
import io.gameq.term.Term.Primary;
import io.gameq.view.GameRows;
import io.gameq.view.OwnerView;
import io.gameq.view.OwnerViews;
import io.gameq.writer.flush.FlushBlockers;
import io.gameq.writer.flush.FlushPace;
import io.gameq.writer.flush.RowDecoder;
import io.gameq.writer.flush.SlotTurn;
import io.gameq.writer.flush.WriterOptions;
import io.gameq.writer.flush.WriterStats;
import io.gameq.writer.pause.Pauses;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Clock;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.UUID;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.jdbi.v3.core.Jdbi;

/**
 * The real servers as one search thread uses them: a Redis namespace and a MySQL database of its
 * own, put into any state and stepped by real code. Not thread-safe.
 */
final class Servers implements AutoCloseable {
  final String namespace = "x" + UUID.randomUUID().toString().substring(0, 8);

  /** At most, in a claim. */
  static final int CLAIMED_ROWS = 100;

  final Slots slots = new Slots(namespace, 1);
  final SlotKeys slot = slots.get(0);
  final Plant plant;
  final RedisConnection redis;
  final Jdbi jdbi;
  final OwnerTable sessions;
  final OwnerReader reader;
  private final TermTable terms;
  final Catalog catalog;
  final RowCodec codec;
  final OwnerViews views;
  final Table item;

  /** One connection for what nodes, writers and the explorer itself do: no user may all of it. */
  final RedisConnector connector =
      new RedisConnector(new RedisConfig(TestServers.adminRedisUri(), null, 10_000));

  private final RedisConnection bareRedis = connector.open();

  /** A connection that does not answer any more. */
  final RedisConnection broken = connector.open();

  private final Notices notices = new Notices(connector, bareRedis, namespace);
  private final MySqlServer server;
  private final List<Connection> connections = new ArrayList<>();
  private final Connection restoring;

  /** Rows that wait for another owner's flush are given up by the last drain alone. */
  static final FlushPlan.Patience PATIENCE = new FlushPlan.Patience(2, 0, 0, 15, 100);

  /** Told once in a while by all worlds. */
  private static final RepeatedWarnings WARNINGS = new RepeatedWarnings(60);

  private static final WriterStats STATS = new WriterStats(new SimpleMeterRegistry());

  private final GuardedWrites writes;
  private final Map<Integer, FlushConnection> flushConnections = new HashMap<>();
  private final Map<Integer, SlotTurn.TurnContext> contexts = new HashMap<>();
  private final Map<Integer, FlushInThread> flushings = new HashMap<>();
  private final Map<Integer, FlushWorker.Memory> standing = new HashMap<>();
  private final Map<Integer, FlushWorker> workers = new HashMap<>();
  private final ExecutorService threads =
      Executors.newCachedThreadPool(
          task -> {
            Thread thread = new Thread(task, "explorer-flush");
            thread.setDaemon(true);
            return thread;
          });
  private final List<Notice> news = new ArrayList<>();
  private boolean locksAreSlow;
  private boolean outOfPatience;
  private RedisImage redisNow;
  private TableImage tablesNow;

  Servers(Plant plant) throws SQLException {
    this.plant = plant;
    redis = RedisWire.of(bareRedis, plant);
    CommitScript.load(redis); // as a node does when it connects
    server =
        GameDatabase.create("explorer")
            .table("item", "player", "player_id", TableImage.ITEM_COLUMNS)
            .server();
    restoring = connect("", 5);
    FlushConnection nodes = new FlushConnection(connect("", 0), plant);
    MySql mysql = nodes.mysql();
    jdbi = mysql.jdbi();
    writes = GuardedWrites.on(mysql);
    sessions = new OwnerTable(mysql);
    reader = new OwnerReader(mysql);
    terms = new TermTable(mysql);
    catalog = CatalogReader.read(mysql);
    item = catalog.table("item");
    codec = new RowCodec((table, fingerprint) -> null, Clock.systemUTC());
    views =
        new OwnerViews(
            new GameRows(
                catalog,
                new CurrentCatalog(catalog, () -> catalog),
                codec,
                Clock.systemUTC(),
                Integer.MAX_VALUE),
            reader);
    broken.close();
    redisNow = RedisImage.take(bareRedis, namespace);
    tablesNow = TableImage.take(restoring);
  }

  /**
   * A connection that, where the server can (MariaDB), gives up a lock at once; MySQL's shortest
   * wait is a second.
   */
  private Connection connect(String parameters, int lockWaitSeconds) throws SQLException {
    String url = server.jdbcUrl();
    Connection connection =
        DriverManager.getConnection(
            url
                + (url.contains("?") ? "&" : "?")
                + "useServerPrepStmts=true&cachePrepStmts=true&"
                + "prepStmtCacheSqlLimit=100000&allowMultiQueries=true&connectionTimeZone=UTC"
                + parameters,
            server.user(),
            server.password());
    connections.add(connection);
    connection.setTransactionIsolation(Connection.TRANSACTION_READ_COMMITTED);
    try (Statement statement = connection.createStatement()) {
      statement.execute("SET SESSION innodb_lock_wait_timeout = " + lockWaitSeconds);
      try (ResultSet rs = statement.executeQuery("SELECT @@innodb_lock_wait_timeout")) {
        rs.next();
        locksAreSlow |= rs.getInt(1) > lockWaitSeconds; // MySQL makes a 1 of the 0
      }
    }
    return connection;
  }

  /** Whether rows that wait for another owner's flush are given up now. */
  void outOfPatience(boolean now) {
    outOfPatience = now;
  }

  /** Whether it takes a second to find out that a lock is not free. */
  boolean locksAreSlow() {
    return locksAreSlow;
  }

  /** What an owner has, by rows of Redis that were read before. */
  OwnerView view(OwnerId owner, List<EncodedRow> unflushed) {
    return views.load(owner, null, Term.NOT_KNOWN, 0, catalog.ownedBy(owner.kind()), unflushed);
  }

  static OwnerId owner(int player) {
    return OwnerId.of("player:" + player);
  }

  // --- states

  /** Makes the servers and every open transaction be as they are in this state. */
  void become(State state) {
    become(state, state.redis());
  }

  /** The same for a step, which meets one of two primaries. */
  void become(State state, Step step) {
    become(state, step.former() ? Objects.requireNonNull(state.former()) : state.redis());
  }

  private void become(State state, RedisImage redis) {
    try {
      boolean differs = !state.tables().equals(tablesNow);
      for (int i = 0; i < state.locals().size(); i++) {
        FlushWorker.Memory there = standing.get(i);
        FlushWorker.Memory wanted = flushing(state, i);
        differs |= there == null ? wanted != null : !there.sameFlush(wanted);
      }
      if (differs) {
        abandonFlushes();
      }
      reopenFlushes(state);
      if (!redis.equals(redisNow)) {
        redis.put(bareRedis, namespace);
        redisNow = redis;
      }
    } catch (SQLException e) {
      throw new IllegalStateException("cannot restore a state", e);
    }
  }

  private static FlushWorker.@org.jspecify.annotations.Nullable Memory flushing(
      State state, int actor) {
    return state.locals().get(actor) instanceof FlushWorker.Memory worker && worker.isFlushing()
        ? worker
        : null;
  }

  /**
   * Runs the statements of open transactions again in the order in which they ran, each over what
   * was committed then; the server must answer the same.
   */
  private void reopenFlushes(State state) throws SQLException {
    TreeMap<Integer, Integer> order = new TreeMap<>();
    TreeMap<Integer, FlushWorker.Pass> passes = new TreeMap<>();
    for (int i = 0; i < state.locals().size(); i++) {
      FlushWorker.Memory wanted = flushing(state, i);
      if (wanted != null && !standing.containsKey(i)) {
        for (FlushWorker.Pass pass : wanted.passes()) {
          order.put(pass.sequence(), i);
          passes.put(pass.sequence(), pass);
        }
      }
    }
    for (Map.Entry<Integer, FlushWorker.Pass> next : passes.entrySet()) {
      putTables(next.getValue().tables());
      int actor = Objects.requireNonNull(order.get(next.getKey()));
      if (!flushings.containsKey(actor)) {
        FlushWorker worker = Objects.requireNonNull(workers.get(actor));
        beginFlush(worker, Objects.requireNonNull(flushing(state, actor)));
      }
      FlushInThread flushing = flushing(actor);
      if (!flushing.pass() || !flushing.answer().equals(next.getValue().answer())) {
        throw new IllegalStateException(
            "an open transaction cannot be restored: "
                + next.getValue()
                + ", now "
                + flushing.answer());
      }
    }
    putTables(state.tables());
  }

  private void putTables(TableImage wanted) throws SQLException {
    if (!wanted.equals(tablesNow)) {
      wanted.put(restoring, tablesNow);
      tablesNow = wanted;
    }
  }

  /** What the servers hold after a step of one actor. */
  State observe(State before, int actor, Step step, Local after) {
    try {
      if (step.changes() && step.server() == Step.Server.REDIS) {
        redisNow = RedisImage.take(bareRedis, namespace);
      }
      if (step.changes() && step.server() == Step.Server.MYSQL) {
        tablesNow = TableImage.take(restoring);
      }
    } catch (SQLException e) {
      throw new IllegalStateException("cannot read a state", e);
    }
    boolean redisChanged = !redisNow.equals(before.redis());
    List<Local> locals = new ArrayList<>();
    for (Local local : before.with(actor, after).locals()) {
      if (local instanceof NodeMemory node) {
        locals.add(node.hears(news));
      } else if (redisChanged && local instanceof FailoverActor.Memory failover && local != after) {
        locals.add(failover.wrote());
      } else if (step.former() && local instanceof Promotion.Memory) {
        locals.add(new Promotion.Memory(redisNow));
      } else {
        locals.add(local);
      }
    }
    news.clear();
    return new State(step.former() ? before.redis() : redisNow, tablesNow, List.copyOf(locals));
  }

  /** Lets the nodes hear what scripts have published since {@link #hearNothing}. */
  void hearNews() {
    news.addAll(notices.published());
  }

  /** What scripts have published until now is lost. */
  void hearNothing() {
    notices.published();
  }

  /** What the servers hold now. */
  State observe(List<Local> locals) {
    redisNow = RedisImage.take(bareRedis, namespace);
    return new State(redisNow, tablesNow, locals);
  }

  // --- terms

  /**
   * Connects to the newest primary, as {@code PrimaryConnector} does, over what the servers would
   * say of themselves; moves the term on, if it took over.
   */
  Reached reach(State state) {
    return settle(connect(state.outages()));
  }

  /** The first half: reads the term, then connects. */
  Reached connect(int outages) {
    jdbi.useHandle(
        handle -> // time is not modelled: the primary that counts was heard of a moment ago
        handle.execute("UPDATE gameq_redis_term SET seen_at = UTC_TIMESTAMP(3)"));
    Term t = terms.current();
    return Reached.unsettled(
        outages,
        new Term(
            t.number(), t.runId(), t.replId(), t.address(), t.sentinelEpoch(), t.formers(), 0));
  }

  /** The second half. */
  Reached settle(Reached connected) {
    Term before = Objects.requireNonNull(connected.before());
    return connected.settled(terms.settle(before, primary(connected.outages())));
  }

  /** Whether what came by way of a primary may be written. */
  boolean counts(Reached primary) {
    return Term.counts(primary.term(), terms.current().number());
  }

  private static Primary primary(int outages) {
    return outages == 0
        ? new Primary("first", "a", "", "redis-1:6379", Primary.NO_SENTINEL)
        : new Primary("second", "b", "a", "redis-2:6379", Primary.NO_SENTINEL);
  }

  /** Redis comes back with nothing. */
  void emptyRedis() {
    redisBecomes(new RedisImage(new TreeMap<>()));
  }

  void redisBecomes(RedisImage image) {
    image.put(bareRedis, namespace);
  }

  /** Time is not modelled: the entry of a choice becomes the one that is due first. */
  void makeFirst(String member, List<String> all) {
    byte[] due = RedisImage.bytes(slot.prefix() + ":due");
    for (String entry : all) {
      bareRedis.sync().zadd(due, entry.equals(member) ? 1 : 2, RedisImage.bytes(entry));
    }
  }

  /** Lets the open of an owner look old enough to be finished by a writer. */
  void age(OwnerId owner) {
    try {
      TableImage.age(restoring, owner);
    } catch (SQLException e) {
      throw new IllegalStateException(e);
    }
  }

  // --- flushes

  /** Begins the flush of a worker; it stops before its first statement. */
  FlushInThread beginFlush(FlushWorker worker, FlushWorker.Memory memory) {
    int actor = worker.index();
    SlotTurn turn = turn(actor, worker.name(), worker.batch(), memory.reached());
    FlushInThread flushing =
        new FlushInThread(
            threads, () -> turn.next(memory.turn()), memory.rows(), flushConnection(actor));
    flushings.put(actor, flushing);
    standing.put(actor, memory);
    workers.put(actor, worker);
    return flushing;
  }

  /** What the turn of a worker reaches. */
  SlotTurn turn(int actor, String name, int batch, Reached reached) {
    long term = plant.has(Plant.Switch.FLUSH_COMPARES_NO_TERM) ? Term.NOT_KNOWN : reached.term();
    return new ExplorerTurn(
        this, term, contexts.computeIfAbsent(actor, a -> context(a, name, batch)));
  }

  private SlotTurn.TurnContext context(int actor, String name, int batch) {
    FlushBlockers blockers = new FlushBlockers(() -> true, () -> Pauses.NONE);
    ClaimScript.Bounds bounds = new ClaimScript.Bounds(batch, CLAIMED_ROWS, 1 << 20, 0);
    return new SlotTurn.TurnContext(
        new WriterOptions(
            namespace,
            1,
            name,
            1,
            bounds,
            PATIENCE,
            WriterOptions.DEFAULT_TOMBSTONES_KEPT,
            WriterOptions.NO_CEILING),
        slots,
        sessions,
        reader,
        new RowDecoder(() -> catalog, codec, blockers),
        new FlushTransaction(flushConnection(actor).mysql(), writes, PATIENCE),
        blockers,
        new FlushPace(bounds, 1, 0, System::nanoTime),
        STATS,
        WARNINGS);
  }

  private FlushConnection flushConnection(int actor) {
    return flushConnections.computeIfAbsent(
        actor,
        a -> {
          try {
            Connection real = connect("", 0);
            real.setAutoCommit(false);
            return new FlushConnection(real, plant);
          } catch (SQLException e) {
            throw new IllegalStateException(e);
          }
        });
  }

  /** A claim as if it were the first of its rows, or the last that they get. */
  Claim withPatience(Claim of) {
    int attempts = outOfPatience ? PATIENCE.attempts() : 1;
    return new Claim(of.owner(), of.session(), of.token(), attempts, of.lapses(), 0, of.rows());
  }

  @SuppressWarnings("NullAway")
  FlushInThread flushing(int actor) {
    return flushings.get(actor);
  }

  /** Keeps in mind where the flush of a worker stands. */
  void stands(FlushWorker worker, FlushWorker.Memory memory) {
    int actor = worker.index();
    if (memory.isFlushing()) {
      standing.put(actor, memory);
    } else {
      standing.remove(actor);
      flushings.remove(actor);
    }
  }

  void abandonFlush(int actor) {
    FlushInThread flushing = flushings.remove(actor);
    if (flushing != null) {
      flushing.abandon();
    }
    standing.remove(actor);
  }

  /** Kills every worker in mid-flush. */
  void abandonFlushes() {
    flushings.values().forEach(FlushInThread::abandon);
    flushings.clear();
    standing.clear();
  }

  @Override
  public void close() {
    abandonFlushes();
    threads.shutdownNow();
    emptyRedis();
    notices.close();
    bareRedis.close();
    connector.close();
    for (Connection connection : connections) {
      try {
        connection.close();
      } catch (SQLException e) {
        throw new IllegalStateException(e);
      }
    }
    try {
      String name = server.queryText("SELECT DATABASE()");
      server.execute("DROP DATABASE `" + name + "`");
    } catch (SQLException e) {
      throw new IllegalStateException(e);
    }
  }
}
