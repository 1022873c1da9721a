package io.gameq.writer;

import io.gameq.GameQueue;
import io.gameq.config.GameQueueConfig;
import io.gameq.config.GameQueueConfigBuilder;
import io.gameq.mysql.MySqlPool;
import io.gameq.mysql.MySqlPool.MySql;
import io.gameq.mysql.flush.FlushPlan;
import io.gameq.redis.RedisConnector;
import io.gameq.redis.RedisConnector.RedisConfig;
import io.gameq.redis.script.ClaimScript;
import io.gameq.rights.MySqlRights.Role;
import io.gameq.servers.GameDatabase;
import io.gameq.servers.MySqlServer;
import io.gameq.servers.TestServers;
import io.gameq.servers.Waits;
import io.gameq.writer.flush.WriterOptions;
import io.gameq.writer.service.WriterService;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.lang.reflect.Proxy;
import java.nio.file.Path;
import java.sql.SQLException;
import java.sql.SQLNonTransientConnectionException;
import java.time.Duration;
import java.util.UUID;
import java.util.function.BooleanSupplier;
import javax.sql.DataSource;

/** Nodes and writers over one database and one namespace of the test servers. */
final class Game implements AutoCloseable {
  static final int SLOTS = 4;

  final GameDatabase database;
  final String namespace;
  private final Path walDirectory;
  private final RedisConnector redis;
  private final MySqlServer ofNodes;
  final MySql mysql;
  int rowsPerSecond = WriterOptions.NO_CEILING;
  FlushPlan.Patience patience = new FlushPlan.Patience(3, 0, 0, 15, 100);

  Game(GameDatabase database, Path walDirectory) {
    this(database, walDirectory, "t" + UUID.randomUUID().toString().substring(0, 8));
  }

  /** The same game with connections of its own. */
  Game(GameDatabase database, Path walDirectory, String namespace) {
    this(database, walDirectory, namespace, database.as(Role.NODE), database.as(Role.WRITER));
  }

  /** The same, for which the least rights in MySQL are not enough. */
  static Game withAllRightsInMySql(GameDatabase database, Path walDirectory) {
    String namespace = "t" + UUID.randomUUID().toString().substring(0, 8);
    return new Game(database, walDirectory, namespace, database.server(), database.server());
  }

  private Game(
      GameDatabase database,
      Path walDirectory,
      String namespace,
      MySqlServer ofNodes,
      MySqlServer ofWriters) {
    this.namespace = namespace;
    this.database = database;
    this.walDirectory = walDirectory;
    this.ofNodes = ofNodes;
    redis = new RedisConnector(new RedisConfig(TestServers.redisUri(Role.WRITER, namespace)));
    mysql = MySqlPool.openForFlushes(ofWriters.config(8));
  }

  GameQueueConfigBuilder config(String node) {
    return GameQueueConfig.builder()
        .callTimeout(Waits.CALL)
        .redis(TestServers.redisUri(Role.NODE, namespace))
        .mysql(ofNodes.jdbcUrl(), ofNodes.user(), ofNodes.password())
        .namespace(namespace)
        .node(node)
        .slots(SLOTS)
        .mergeWindow(Duration.ofMillis(50))
        .walDirectory(walDirectory)
        .walKeep(Duration.ZERO);
  }

  GameQueue node(String name) {
    return GameQueue.open(config(name).build());
  }

  WriterService writer(String name) {
    return writer(name, 30_000);
  }

  WriterService writer(String name, long leaseMillis) {
    return writer(name, leaseMillis, mysql);
  }

  WriterService writer(String name, MeterRegistry meters) {
    return writer(name, 30_000, mysql, meters);
  }

  /** A writer with a MySQL of its own. */
  WriterService writer(String name, long leaseMillis, MySql database) {
    return writer(name, leaseMillis, database, new SimpleMeterRegistry());
  }

  /** A writer that reaches MySQL in another way, as by a proxy. */
  WriterService writer(String name, long leaseMillis, MySql database, MeterRegistry meters) {
    return new WriterService(
        new WriterOptions(
            namespace,
            SLOTS,
            name,
            2,
            new ClaimScript.Bounds(256, 1000, 8 << 20, leaseMillis),
            patience,
            WriterOptions.DEFAULT_TOMBSTONES_KEPT,
            rowsPerSecond),
        redis,
        database,
        meters);
  }

  /** A writer for which MySQL is away while {@code down} says so. */
  WriterService writer(String name, long leaseMillis, BooleanSupplier down) {
    DataSource goingAway =
        (DataSource)
            Proxy.newProxyInstance(
                getClass().getClassLoader(),
                new Class<?>[] {DataSource.class},
                (proxy, method, args) -> {
                  if (down.getAsBoolean()) {
                    throw new SQLNonTransientConnectionException("away", "08001");
                  }
                  if (!method.getName().equals("getConnection")) {
                    throw new UnsupportedOperationException(method.toString());
                  }
                  return mysql.connection();
                });
    return writer(name, leaseMillis, new MySql(goingAway));
  }

  String queryText(String sql) throws SQLException {
    return database.server().queryText(sql);
  }

  @Override
  public void close() {
    redis.close();
    mysql.close();
  }
}
