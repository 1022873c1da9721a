package io.gameq.lab.bench;

import io.gameq.config.GameQueueConfig;
import io.gameq.lab.contender.gameq.GameqNode;
import io.gameq.lab.contender.redis.RowEncoding;
import io.gameq.lab.mysql.BenchTables;
import io.gameq.lab.mysql.ScratchDatabase;
import io.gameq.lab.mysql.StoredRows;
import io.gameq.lab.redis.BacklogProbe;
import io.gameq.lab.redis.ClaimProbe;
import io.gameq.lab.redis.RedisMemory;
import io.gameq.lab.scratch.LeastLogins;
import io.gameq.lab.scratch.ScratchServers;
import io.gameq.lab.workload.BenchException;
import io.gameq.lab.workload.Model;
import io.gameq.lab.workload.Workload;
import io.gameq.mysql.MySqlPool;
import io.gameq.mysql.MySqlPool.MySql;
import io.gameq.redis.RedisConnector;
import io.gameq.redis.RedisConnector.RedisConfig;
import io.gameq.redis.SlotKeys;
import io.gameq.redis.Slots;
import io.gameq.redis.script.ClaimScript;
import io.gameq.rights.MySqlRights.Role;
import io.gameq.writer.flush.WriterOptions;
import io.gameq.writer.service.WriterService;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Locale;
import org.HdrHistogram.Histogram;

/**
 * The tables, the node and the writers of a benchmark, on running servers; its keys and tables are
 * removed at close. One thread; {@link #progress} may be called by any.
 */
final class BenchWorld implements AutoCloseable {
  private static final int LOGIN_THREADS = 8;
  private static final Duration SETTLE_LIMIT = Duration.ofHours(1);

  /** A backlog that is rewritten needs all of its WAL; the disk's own limit stays. */
  private static final long MOST_WAL_BYTES = 64L << 30;

  private final BenchOptions options;
  private final Place place;
  private final String namespace;
  private final Workload workload;
  private final Deque<AutoCloseable> opened = new ArrayDeque<>();
  private final BenchTables tables;
  private final RowEncoding encoding;
  private final RedisConnector redis;
  private final RedisMemory memory;
  private final SlotKeys[] slots;
  private final BacklogProbe backlog;
  private final StoredRows rows;
  private final LeastLogins logins;
  private final RedisConnector redisOfWriters;
  private final MySql mysqlOfWriters;
  private final GameqNode node;
  private double redisBytesPerSession;

  /** Where a benchmark runs: {@code walDirectory} is for the node, {@code err} for progress. */
  record Place(
      ScratchServers servers, ScratchDatabase database, Path walDirectory, PrintWriter err) {}

  /** Makes the tables and starts the node, in a new namespace; nobody is logged in. */
  BenchWorld(BenchOptions options, Place place) {
    this.options = options;
    this.place = place;
    namespace = "bench-" + Integer.toHexString(new SecureRandom().nextInt());
    workload = new Workload(options.shape());
    slots = SlotKeys.all(namespace, options.slots());
    try {
      tables = open(new BenchTables(place.database(), options.shape(), namespace, options.slots()));
      encoding = new RowEncoding(tables.table());
      redis = open(new RedisConnector(new RedisConfig(place.servers().redisUri())));
      memory = open(new RedisMemory(redis));
      opened.push(() -> memory.delete(namespace));
      backlog = open(new BacklogProbe(redis, slots));
      rows = place.database().rows();
      logins = new LeastLogins(place.servers(), place.database(), namespace);
      redisOfWriters = open(new RedisConnector(logins.redis(Role.WRITER)));
      mysqlOfWriters =
          open(
              MySqlPool.openForFlushes(
                  logins.mysql(Role.WRITER).withPoolSize(BenchCommand.connections(options))));
      node =
          open(
              new GameqNode(
                  nodeConfig(), options.shape().players(), GameqNode.Acknowledges.QUEUED));
    } catch (RuntimeException e) {
      close();
      throw e;
    }
  }

  private <T extends AutoCloseable> T open(T resource) {
    opened.push(resource);
    return resource;
  }

  private GameQueueConfig nodeConfig() {
    return logins
        .ofNode()
        .namespace(namespace)
        .node("bench")
        .slots(options.slots())
        .walDirectory(place.walDirectory())
        .walMaxBytes(MOST_WAL_BYTES)
        .walKeep(Duration.ZERO)
        .mergeWindow(Duration.ofMillis(options.mergeWindowMillis()))
        .build();
  }

  BenchOptions options() {
    return options;
  }

  Workload workload() {
    return workload;
  }

  GameqNode node() {
    return node;
  }

  BenchTables tables() {
    return tables;
  }

  RowEncoding encoding() {
    return encoding;
  }

  /** What MySQL holds. */
  StoredRows rows() {
    return rows;
  }

  ScratchDatabase database() {
    return place.database();
  }

  String namespace() {
    return namespace;
  }

  String redisUri() {
    return place.servers().redisUri();
  }

  RedisMemory memory() {
    return memory;
  }

  BacklogProbe backlog() {
    return backlog;
  }

  /** Removes all rows, which are in MySQL by now. */
  void emptyTables() {
    settle();
    rows.truncate(List.of(Workload.TABLE));
  }

  /** Makes all rows older than anything that comes; they are in MySQL by now. */
  void ageRows() {
    settle();
    tables.age();
  }

  /**
   * Of what a closed session committed the node learns only by looking into MySQL; changed behind
   * its back before that, it would report rows as lost.
   */
  private void settle() {
    if (options.handOvers() == 0) {
      return;
    }
    progress("the node looks which rows of closed sessions are in MySQL");
    int unknown = node.settle(SETTLE_LIMIT);
    if (unknown > 0) {
      throw new BenchException(
          String.format(
              Locale.ROOT,
              "the node does not know of %,d rows that they are in MySQL, %d s after they are",
              unknown,
              SETTLE_LIMIT.toSeconds()));
    }
  }

  /** Logs all players in; returns what each login took, ns. */
  Histogram login() throws InterruptedException {
    progress(String.format(Locale.ROOT, "%,d players log in", options.shape().players()));
    long before = memory.usedBytes();
    Histogram nanos = node.login(LOGIN_THREADS);
    redisBytesPerSession =
        Math.max(0, (double) (memory.usedBytes() - before) / options.shape().players());
    return nanos;
  }

  /** Logs all players in again, with some threads. */
  void loginAgain() throws InterruptedException {
    node.forgetSessions();
    var unused = node.login(LOGIN_THREADS);
  }

  /** What a session without dirty rows takes, after {@link #login}. */
  double redisBytesPerSession() {
    return redisBytesPerSession;
  }

  WriterService startWriter(String name, int workers) {
    return new WriterService(
        new WriterOptions(
            namespace,
            options.slots(),
            name,
            workers,
            ClaimScript.Bounds.DEFAULT,
            WriterOptions.DEFAULT_PATIENCE,
            WriterOptions.DEFAULT_TOMBSTONES_KEPT,
            WriterOptions.NO_CEILING),
        redisOfWriters,
        mysqlOfWriters);
  }

  /** Claims what is due and gives it back, some times. */
  ClaimProbe.Result claims(int calls) {
    return claims(new Slots(namespace, slots.length), calls);
  }

  /** Claims of slots in which nothing is. */
  ClaimProbe.Result idleClaims(int calls) {
    return claims(new Slots("idle-" + namespace, 1), calls);
  }

  private ClaimProbe.Result claims(Slots of, int calls) {
    try (ClaimProbe probe = new ClaimProbe(redis, ClaimScript.Bounds.DEFAULT)) {
      return probe.run(of, calls);
    }
  }

  /** Compares MySQL with what must be there. */
  Model.Result check(Model model) {
    return rows.check(Workload.TABLE, model);
  }

  void progress(String what) {
    place.err().println("  " + what);
    place.err().flush();
  }

  @Override
  public void close() {
    boolean interrupted = Thread.interrupted(); // Redis and MySQL are to be cleaned all the same
    while (!opened.isEmpty()) {
      try {
        opened.pop().close();
      } catch (Exception e) {
        progress("while ending: " + e.getMessage());
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }
}
