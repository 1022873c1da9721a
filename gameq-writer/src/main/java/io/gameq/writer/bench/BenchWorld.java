package io.gameq.writer.bench;

import io.gameq.GameQueueConfig;
import io.gameq.catalog.Catalog;
import io.gameq.catalog.Table;
import io.gameq.mysql.TableSpec;
import io.gameq.redis.RedisConfig;
import io.gameq.redis.RedisConnector;
import io.gameq.writer.WriterOptions;
import io.gameq.writer.WriterService;
import io.gameq.writer.bench.redis.RedisMemory;
import io.gameq.writer.bench.workload.BenchRow;
import io.gameq.writer.bench.workload.Model;
import io.gameq.writer.bench.workload.Workload;
import io.gameq.writer.mysql.ScratchDatabase;
import io.gameq.writer.redis.ClaimScript;
import io.gameq.writer.scratch.ScratchServers;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import javax.sql.DataSource;

/** The table, the node and the writer of a benchmark, on running servers. One thread. */
final class BenchWorld implements AutoCloseable {
  private static final int LOGIN_THREADS = 8;

  /** What {@code gameq-writer run} takes by default. */
  private static final ClaimScript.Bounds BOUNDS =
      new ClaimScript.Bounds(500, 8_000, 8 << 20, 30_000);

  private final BenchOptions options;
  private final ScratchServers servers;
  private final ScratchDatabase database;
  private final String namespace;
  private final PrintWriter err;
  private final Workload workload;
  private final Table table;
  private final RedisConnector redis;
  private final RedisMemory memory;
  private final BenchGame game;

  /** Where a benchmark runs: {@code walDirectory} is for the node, {@code err} for progress. */
  record Place(
      ScratchServers servers,
      ScratchDatabase database,
      String namespace,
      Path walDirectory,
      PrintWriter err) {}

  BenchWorld(BenchOptions options, Place place) {
    this.options = options;
    this.servers = place.servers();
    this.database = place.database();
    this.namespace = place.namespace();
    this.err = place.err();
    workload = new Workload(options.shape());
    database.run(
        List.of(
            "CREATE TABLE %s (player_id BIGINT NOT NULL, slot INT NOT NULL, seq BIGINT NOT NULL, payload VARBINARY(%d) NOT NULL, PRIMARY KEY (player_id, slot)) ENGINE = InnoDB"
                .formatted(
                    Workload.TABLE,
                    Math.max(1, options.shape().rowBytes() - Workload.FIXED_BYTES))));
    Catalog catalog =
        database.migrate(
            namespace,
            options.slots(),
            List.of(new TableSpec(Workload.TABLE, "player", "player_id")));
    table = catalog.table(Workload.TABLE);
    redis =
        new RedisConnector(
            new RedisConfig(servers.redisUri(), null, RedisConfig.DEFAULT_TIMEOUT_MILLIS));
    memory = new RedisMemory(redis);
    game =
        new BenchGame(
            GameQueueConfig.builder()
                .redis(servers.redisUri())
                .mysql(servers.mysql().url(), servers.mysql().user(), servers.mysql().password())
                .namespace(namespace)
                .node("bench")
                .slots(options.slots())
                .walDirectory(place.walDirectory())
                .mergeWindow(Duration.ofMillis(options.mergeWindowMillis()))
                .build(),
            options.shape().players());
  }

  BenchOptions options() {
    return options;
  }

  Workload workload() {
    return workload;
  }

  BenchGame game() {
    return game;
  }

  Table table() {
    return table;
  }

  DataSource dataSource() {
    return database.dataSource();
  }

  String namespace() {
    return namespace;
  }

  String redisUri() {
    return servers.redisUri();
  }

  RedisMemory memory() {
    return memory;
  }

  /** Logs all players in; returns logins per second. */
  double login() throws InterruptedException {
    long began = System.nanoTime();
    game.login(options.shape().players(), LOGIN_THREADS);
    return options.shape().players() / ((System.nanoTime() - began) / 1e9);
  }

  WriterService startWriter() {
    return new WriterService(
        new WriterOptions(
            namespace,
            options.slots(),
            "bench-writer",
            options.workers(),
            BOUNDS,
            WriterOptions.DEFAULT_PATIENCE,
            WriterOptions.DEFAULT_TOMBSTONES_KEPT),
        redis,
        database.dataSource());
  }

  /** Makes all rows older than anything that comes, so that rounds repeat each other. */
  void ageRows() {
    database.run(List.of("UPDATE " + Workload.TABLE + " SET seq = 0, gq_version = 0"));
  }

  /** Compares MySQL with what must be there. */
  Model.Result check(Model model) {
    Model.Check check = model.check();
    database.scan(
        table,
        row ->
            check.row(
                new BenchRow(
                    Objects.requireNonNull(row.getLong("player_id")),
                    Objects.requireNonNull(row.getLong("slot")).intValue(),
                    Objects.requireNonNull(row.getLong("seq")),
                    Objects.requireNonNull(row.getBytes("payload")))));
    return check.result();
  }

  void deleteKeys(String namespaceToDelete) {
    memory.delete(namespaceToDelete);
  }

  void progress(String what) {
    err.println("  " + what);
    err.flush();
  }

  @Override
  public void close() {
    game.close();
    memory.close();
    redis.close();
  }
}
