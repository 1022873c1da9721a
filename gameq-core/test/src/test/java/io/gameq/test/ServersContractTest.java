package io.gameq.test;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.gameq.GameQueue;
import io.gameq.config.GameQueueConfig;
import io.gameq.lab.servers.EmbeddedMariaDb;
import io.gameq.lab.servers.EmbeddedRedis;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.io.TempDir;

/** The contract on two real nodes with a Redis, a MariaDB and a writer. */
class ServersContractTest extends GameContract {
  private static final String DATABASE = "game";
  private static final String CONFIG =
      """
      namespace: contract
      redis: { uri: "%s" }
      mysql: { url: "%s", user: "%s", password: "%s" }
      tables:
        - { name: player, owner: player, ownerColumn: id }
        - { name: item, owner: player, ownerColumn: owner_id }
        - { name: worn, owner: player, ownerColumn: owner_id }
      """;

  @TempDir static Path directory;

  private static EmbeddedRedis redis;
  private static EmbeddedMariaDb mysql;
  private static Process writer;
  private static GameQueue queue;
  private static GameQueue other;

  @BeforeAll
  static void start() throws Exception {
    redis = EmbeddedRedis.start();
    mysql = EmbeddedMariaDb.start(new EmbeddedMariaDb.Options(null, 0, 2, List.of()));
    execute(mysql.jdbcUrl(), "CREATE DATABASE " + DATABASE + " CHARACTER SET utf8mb4");
    for (String statement : MemoryContractTest.resource("contract.sql").split(";\n", -1)) {
      if (!statement.isBlank()) {
        execute(mysql.jdbcUrl(DATABASE), statement);
      }
    }
    Files.writeString(
        directory.resolve("gameq.yaml"),
        CONFIG.formatted(redis.uri(), mysql.jdbcUrl(DATABASE), mysql.user(), mysql.password()));
    Process migration = writer("schema", "migrate");
    assertTrue(migration.waitFor(1, TimeUnit.MINUTES));
    assertTrue(migration.exitValue() == 0, () -> read("schema.log"));
    writer = writer("run");
    queue = GameQueue.open(config("one"));
    other = GameQueue.open(config("other"));
  }

  private static String read(String file) {
    try {
      return Files.readString(directory.resolve(file));
    } catch (java.io.IOException e) {
      return e.toString();
    }
  }

  private static GameQueueConfig config(String node) {
    return GameQueueConfig.builder()
        .redis(redis.uri())
        .mysql(mysql.jdbcUrl(DATABASE), mysql.user(), mysql.password())
        .namespace("contract")
        .node(node)
        .walDirectory(directory.resolve("wal"))
        .build();
  }

  private static Process writer(String... arguments) throws Exception {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(List.of("-Xmx128m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"));
    ManagementFactory.getRuntimeMXBean().getInputArguments().stream()
        .filter(flag -> flag.startsWith("--"))
        .forEach(command::add);
    command.addAll(
        List.of("-cp", System.getProperty("java.class.path"), "io.gameq.writer.WriterMain"));
    command.addAll(List.of(arguments));
    return new ProcessBuilder(command)
        .directory(directory.toFile())
        .redirectErrorStream(true)
        .redirectOutput(directory.resolve(arguments[0] + ".log").toFile())
        .start();
  }

  private static void execute(String url, String sql) throws SQLException {
    try (Connection connection = DriverManager.getConnection(url, mysql.user(), mysql.password());
        Statement statement = connection.createStatement()) {
      statement.execute(sql);
    }
  }

  @AfterAll
  static void stop() throws Exception {
    queue.close();
    other.close();
    writer.destroy();
    var unused = writer.waitFor(30, TimeUnit.SECONDS);
    writer.destroyForcibly();
    mysql.close();
    redis.close();
  }

  @Override
  GameQueue queue() {
    return queue;
  }

  @Override
  GameQueue other() {
    return other;
  }

  @Override
  void until(Duration about, BooleanSupplier isSo) {
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(30);
    while (!isSo.getAsBoolean()) {
      assertTrue(System.nanoTime() < deadline, "not within 30 s");
      LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(10));
    }
  }
}
