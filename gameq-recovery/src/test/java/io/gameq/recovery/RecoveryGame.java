package io.gameq.recovery;

import static java.nio.charset.StandardCharsets.US_ASCII;

import io.gameq.GameQueue;
import io.gameq.config.GameQueueConfig;
import io.gameq.config.GameQueueConfigBuilder;
import io.gameq.rights.MySqlRights.Role;
import io.gameq.rights.RedisRights;
import io.gameq.servers.GameDatabase;
import io.gameq.servers.LeastRedisUsers;
import io.gameq.servers.TestServers;
import io.gameq.servers.Waits;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Path;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * A game on the test servers, with a namespace and a database of its own, that can lose what Redis
 * or MySQL held. No writer runs: MySQL gets rows by {@code replay --into mysql}.
 */
public final class RecoveryGame implements AutoCloseable {
  public static final int SLOTS = 4;

  public final String namespace = "t" + UUID.randomUUID().toString().substring(0, 8);
  public final GameDatabase database;
  public final Path wal;

  public record Item(long playerId, int slot, int itemId, int count) {}

  public record Pet(long id, long playerId, String name) {}

  public RecoveryGame(Path directory) throws SQLException {
    this.wal = directory.resolve("wal");
    this.database =
        GameDatabase.create("recovery")
            .table(
                "item",
                "player",
                "player_id",
                "player_id BIGINT NOT NULL, slot INT NOT NULL, item_id INT NOT NULL, count INT NOT"
                    + " NULL, PRIMARY KEY (player_id, slot)")
            .table(
                "pet",
                "player",
                "player_id",
                "id BIGINT PRIMARY KEY, player_id BIGINT NOT NULL, name VARCHAR(20) NOT NULL, KEY"
                    + " (player_id)");
  }

  GameQueueConfigBuilder config(String node) {
    return GameQueueConfig.builder()
        .callTimeout(Waits.CALL)
        .redis(TestServers.redisUri(Role.NODE, namespace))
        .mysql(
            database.server().jdbcUrl(),
            database.as(Role.NODE).user(),
            database.as(Role.NODE).password())
        .namespace(namespace)
        .node(node)
        .slots(SLOTS)
        .mergeWindow(Duration.ofMillis(50))
        .walDirectory(wal);
  }

  public GameQueue node(String name) {
    return GameQueue.open(config(name).build());
  }

  /** Removes everything that Redis holds of this game. */
  public void loseRedis() {
    try (var redis = TestServers.redis()) {
      keys("*").forEach(key -> redis.sync().del(key));
    }
  }

  /** The keys of this game that match a pattern after the slot: {@code :dirty:*}. */
  List<String> keys(String pattern) {
    try (var redis = TestServers.redis()) {
      return redis.sync().keys("{" + namespace + ":*" + pattern).stream().sorted().toList();
    }
  }

  /** Redis commands on one key. */
  String get(String key) {
    try (var redis = TestServers.redis()) {
      return String.valueOf(redis.sync().get(key));
    }
  }

  /** Rows that wait in Redis. */
  long dirtyRows() {
    try (var redis = TestServers.redis()) {
      return keys(":dirty:*").stream().mapToLong(key -> redis.sync().hlen(key)).sum();
    }
  }

  String query(String sql) throws SQLException {
    return database.server().queryText(sql);
  }

  /** What one command line printed and returned. */
  record Run(int exitCode, String out, String err) {
    boolean says(String text) {
      return out.contains(text) || err.contains(text);
    }

    @Override
    public String toString() {
      return "exit code " + exitCode + "\n" + out + err;
    }
  }

  /** A command over all WALs of this game. */
  Run run(String command) {
    return run(command, List.of(wal.toString()));
  }

  /** A command over these WALs. */
  Run run(String command, List<String> wals) {
    List<String> args = new ArrayList<>(List.of(command.split(" ")));
    if (!command.startsWith("inspect")) {
      args.addAll(servers());
    }
    args.addAll(wals);
    if (command.contains("--no-redis")) {
      int at = args.indexOf("--redis");
      args.remove(at + 1);
      args.remove(at);
      args.remove("--no-redis");
    }
    return main(args);
  }

  List<String> servers() {
    return List.of(
        "--redis",
        LeastRedisUsers.withoutLogin(TestServers.redisUri(Role.RECOVERY, namespace)),
        "--redis-user",
        RedisRights.user(namespace, Role.RECOVERY),
        "--mysql",
        database.server().jdbcUrl(),
        "--mysql-user",
        database.as(Role.RECOVERY).user());
  }

  Run main(List<String> args) {
    return main(args, database.as(Role.RECOVERY).password());
  }

  Run main(List<String> args, @Nullable String mysqlPassword) {
    return main(
        args,
        name ->
            name.equals(ServerOptions.MYSQL_PASSWORD)
                ? mysqlPassword
                : name.equals(ServerOptions.REDIS_PASSWORD) ? LeastRedisUsers.PASSWORD : null);
  }

  Run main(List<String> args, UnaryOperator<@Nullable String> environment) {
    StringWriter out = new StringWriter();
    StringWriter err = new StringWriter();
    int exitCode =
        RecoveryMain.run(
            new PrintWriter(out, true),
            new PrintWriter(err, true),
            environment,
            args.toArray(String[]::new));
    Run run = new Run(exitCode, out.toString(), err.toString());
    System.out.println("$ gameq-recovery " + String.join(" ", args) + "\n" + run);
    return run;
  }

  static byte[] ascii(String text) {
    return text.getBytes(US_ASCII);
  }

  @Override
  public void close() {
    loseRedis();
  }
}
