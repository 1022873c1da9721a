package io.gameq.lab.demo;

import io.gameq.GameQueue;
import io.gameq.config.GameQueueConfig;
import io.gameq.lab.demo.game.DemoGame;
import io.gameq.lab.mysql.ScratchDatabase;
import io.gameq.lab.scratch.LeastLogins;
import io.gameq.lab.scratch.ScratchServers;
import io.gameq.mysql.MySqlPool;
import io.gameq.mysql.MySqlPool.MySql;
import io.gameq.redis.RedisConnector;
import io.gameq.redis.script.ClaimScript;
import io.gameq.rights.MySqlRights.Role;
import io.gameq.writer.flush.WriterOptions;
import io.gameq.writer.service.WriterService;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * One demo on running servers: starts writers and nodes, plays, drains, verifies. One thread; the
 * progress is on its own.
 */
final class DemoRun implements AutoCloseable {
  static final int SLOTS = GameQueueConfig.DEFAULT_SLOTS;

  private static final int DRIVERS_PER_NODE = 2;
  private static final Duration MERGE_WINDOW = Duration.ofSeconds(1);
  private static final Duration DRAIN_LIMIT = Duration.ofMinutes(2);
  private static final long LOGOUT_SECONDS = 60;

  private final DemoOptions options;
  private final ScratchDatabase database;
  private final DemoGame game;
  private final PrintWriter err;
  private final DemoStats stats;
  private final Mismatches mismatches = new Mismatches();
  private final AtomicInteger atDesks = new AtomicInteger();
  private final AtomicBoolean ended = new AtomicBoolean();
  private final Verifier verifier;
  private final Deque<AutoCloseable> started = new ArrayDeque<>();
  private final List<WriterService> writers = new ArrayList<>();
  private final List<DemoNode> nodes = new ArrayList<>();
  private final List<Driver> drivers = new ArrayList<>();
  private final List<DemoPlayer> players = new ArrayList<>();

  /** Starts writers and nodes. */
  DemoRun(
      DemoOptions options,
      ScratchServers servers,
      ScratchDatabase database,
      DemoGame game,
      Place place) {
    this.options = options;
    this.stats = new DemoStats(options.players());
    this.database = database;
    this.game = game;
    this.err = place.err();
    this.verifier = new Verifier(database, game);
    try {
      start(servers, place);
    } catch (RuntimeException e) {
      close();
      throw e;
    }
  }

  /**
   * Where a run belongs.
   *
   * @param namespace new for each run, as a given Redis may hold the keys of another one
   * @param walDirectory where nodes make their WALs
   * @param err takes the progress
   */
  record Place(String namespace, Path walDirectory, PrintWriter err) {}

  private void start(ScratchServers servers, Place place) {
    LeastLogins logins = new LeastLogins(servers, database, place.namespace());
    RedisConnector redis = add(new RedisConnector(logins.redis(Role.WRITER)));
    MySql mysql = add(MySqlPool.openForFlushes(logins.mysql(Role.WRITER)));
    for (int i = 1; i <= options.writers(); i++) {
      writers.add(
          add(
              new WriterService(
                  new WriterOptions(
                      place.namespace(),
                      SLOTS,
                      "writer-" + i,
                      1,
                      ClaimScript.Bounds.DEFAULT,
                      WriterOptions.DEFAULT_PATIENCE,
                      WriterOptions.DEFAULT_TOMBSTONES_KEPT,
                      WriterOptions.NO_CEILING),
                  redis,
                  mysql)));
    }
    DemoNode.World world = new DemoNode.World(game, stats, mismatches, atDesks, ended);
    Random seeds = new Random(options.seed());
    long nanosPerCommit =
        options.commitsPerSecond() == 0
            ? 0
            : 1_000_000_000L * options.nodes() * DRIVERS_PER_NODE / options.commitsPerSecond();
    for (int i = 1; i <= options.nodes(); i++) {
      String name = "node-" + i;
      GameQueue queue =
          GameQueue.open(
              logins
                  .ofNode()
                  .namespace(place.namespace())
                  .node(name)
                  .slots(SLOTS)
                  .walDirectory(place.walDirectory())
                  .mergeWindow(MERGE_WINDOW)
                  .build());
      DemoNode node = add(new DemoNode(name, queue, world));
      for (int d = 0; d < DRIVERS_PER_NODE; d++) {
        Driver driver = new Driver(node, stats, new Random(seeds.nextLong()), nanosPerCommit);
        node.add(driver);
        drivers.add(driver);
      }
      nodes.add(node);
    }
    for (int i = 0; i < nodes.size(); i++) {
      nodes.get(i).setNext(nodes.get((i + 1) % nodes.size()));
    }
  }

  private <T extends AutoCloseable> T add(T resource) {
    started.push(resource);
    return resource;
  }

  /** Plays for the given time, logs everybody out, drains and verifies. */
  DemoReport play() throws InterruptedException {
    stats.begin();
    for (int i = 0; i < options.players(); i++) {
      DemoPlayer player = new DemoPlayer(game.actor(i));
      players.add(player);
      nodes.get(i % nodes.size()).login(player);
    }
    List<Thread> threads = new ArrayList<>();
    for (Driver driver : drivers) {
      Thread thread = new Thread(driver, "driver-" + threads.size());
      thread.setDaemon(true);
      threads.add(thread);
      thread.start();
    }
    Progress progress = new Progress(stats, this::rowsWritten, err);
    for (int second = 1; second <= options.seconds() && stats.errors() == 0; second++) {
      TimeUnit.SECONDS.sleep(1);
      progress.line(second);
    }
    ended.set(true);
    drivers.forEach(Driver::stop);
    for (Thread thread : threads) {
      thread.join();
    }
    progress.end();

    DemoDrain drain = DemoDrain.begin(this::rowsWritten);
    awaitDesks();
    logOutAll();
    Set<String> notDrained = drain();
    drain.end();

    String broken = options.breakVerification() ? verifier.breakOne(players) : null;
    long verified = verifier.verify(players, mismatches);
    return new DemoReport(
        stats,
        mismatches,
        new DemoReport.Outcome(
            rowsWritten(), drain.rows(), drain.seconds(), verified, notDrained, broken));
  }

  private void logOutAll() throws InterruptedException {
    for (DemoNode node : nodes) {
      node.drivers().stream()
          .flatMap(driver -> driver.remaining().stream())
          .filter(DemoPlayer::online)
          .forEach(node::logout);
    }
    awaitDesks();
  }

  private void awaitDesks() throws InterruptedException {
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(LOGOUT_SECONDS);
    while (atDesks.get() > 0) {
      if (System.nanoTime() > deadline) {
        throw new DemoFailure(
            "%s logins and logouts are not done within %s s"
                .formatted(atDesks.get(), LOGOUT_SECONDS));
      }
      TimeUnit.MILLISECONDS.sleep(5);
    }
  }

  private Set<String> drain() {
    Set<String> missing = new TreeSet<>();
    nodes.forEach(node -> missing.addAll(node.drain(DRAIN_LIMIT)));
    return missing;
  }

  private long rowsWritten() {
    return writers.stream().mapToLong(writer -> writer.stats().rows()).sum();
  }

  @Override
  public void close() {
    while (!started.isEmpty()) {
      try {
        started.pop().close();
      } catch (Exception e) {
        err.println("while stopping the demo: " + e.getMessage());
      }
    }
  }
}
