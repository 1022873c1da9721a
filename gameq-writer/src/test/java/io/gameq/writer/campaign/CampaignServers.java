package io.gameq.writer.campaign;

import io.gameq.embedded.EmbeddedMariaDb;
import io.gameq.embedded.EmbeddedRedis;
import io.gameq.servers.GameDatabase;
import io.gameq.servers.MySqlServer;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.api.sync.RedisCommands;
import java.nio.file.Path;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;

/**
 * A Redis and a MariaDB of the campaign's own, since faults kill, stop and fill them. Used by the
 * campaign's thread.
 */
final class CampaignServers implements AutoCloseable {
  /** May not write while read_only is set, unlike root. */
  static final String GAME_USER = "game";

  static final String GAME_PASSWORD = "campaign";

  private final Path directory;
  private final EmbeddedRedis redis = EmbeddedRedis.start();
  private final RedisClient client = RedisClient.create(redis.uri());
  private EmbeddedMariaDb mysql;

  CampaignServers(Path directory) {
    this.directory = directory;
    RedisURI uri = RedisURI.create(redis.uri());
    uri.setTimeout(Duration.ofSeconds(30)); // longer than the faults that stop Redis
    commands = client.connect(uri).sync();
    mysql = startMySql(0);
  }

  private final RedisCommands<String, String> commands;

  private EmbeddedMariaDb startMySql(int port) {
    return EmbeddedMariaDb.start(
        new EmbeddedMariaDb.Options(
            directory,
            port,
            2, // a kill of the process loses nothing of the page cache, and no power is cut here
            List.of("--innodb-lock-wait-timeout=2", "--innodb-deadlock-detect=ON")));
  }

  /** An administrator's connection, past all proxies. */
  RedisCommands<String, String> redis() {
    return commands;
  }

  String redisUri() {
    return redis.uri();
  }

  int redisPort() {
    return redis.port();
  }

  long redisPid() {
    return redis.pid();
  }

  /** An administrator's login, past all proxies. */
  MySqlServer mysql() {
    return new MySqlServer(mysql.jdbcUrl(), mysql.user(), mysql.password());
  }

  int mysqlPort() {
    return mysql.port();
  }

  long mysqlPid() {
    return mysql.pid();
  }

  /** kill -9, then a start on the same data and port. */
  void killAndRestartMySql() {
    killMySql();
    restartMySql();
  }

  /** kill -9. */
  void killMySql() {
    ProcessHandle process = ProcessHandle.of(mysql.pid()).orElseThrow();
    process.destroyForcibly();
    process.onExit().join();
    mysql.close();
  }

  /** After {@link #killMySql}: on the same data and port. */
  void restartMySql() {
    mysql = startMySql(mysql.port());
  }

  /** A database with gameq's and the game's tables that the game's user may use. */
  String freshDatabase() throws SQLException {
    GameDatabase database = GameDatabase.create(mysql(), "campaign");
    for (String table : CampaignTables.NAMES) {
      database.table(table, "player", "player_id", CampaignTables.columns(table));
    }
    String url = database.server().jdbcUrl();
    String name = url.substring(url.lastIndexOf('/') + 1);
    mysql()
        .execute(
            "CREATE USER IF NOT EXISTS " + GAME_USER + " IDENTIFIED BY '" + GAME_PASSWORD + "'",
            "GRANT ALL ON `" + name + "`.* TO " + GAME_USER);
    return name;
  }

  @Override
  public void close() {
    client.shutdown(Duration.ZERO, Duration.ofSeconds(2));
    redis.close();
    mysql.close();
  }
}
