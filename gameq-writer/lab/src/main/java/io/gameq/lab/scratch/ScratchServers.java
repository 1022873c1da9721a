package io.gameq.lab.scratch;

import io.gameq.config.Password;
import io.gameq.config.Tls;
import io.gameq.lab.mysql.ScratchDatabase;
import io.gameq.lab.servers.EmbeddedMariaDb;
import io.gameq.lab.servers.EmbeddedRedis;
import io.gameq.mysql.MySqlPool.MySqlConfig;
import io.gameq.redis.RedisConnector.RedisConfig;
import io.gameq.redis.RedisConnector.RedisLogin;
import java.util.ArrayDeque;
import java.util.Deque;
import org.jspecify.annotations.Nullable;

/**
 * A Redis and a MySQL that a command fills itself: embedded ones, or those that were given. One
 * thread.
 */
public final class ScratchServers implements AutoCloseable {
  /** Of each MySQL pool: nodes and writers are few. */
  private static final int POOL_SIZE = 8;

  private static final String DATABASE = "gameq_scratch";

  private final Deque<AutoCloseable> started = new ArrayDeque<>();
  private final String redisUri;
  private final @Nullable Tls redisTls;
  private final MySqlConfig mysql;
  private final String description;
  private final int embedded;

  /** Servers to use instead of embedded ones; null: embedded. */
  public record Given(
      @Nullable String redisUri,
      @Nullable Tls redisTls,
      @Nullable String jdbcUrl,
      String user,
      String password,
      @Nullable Tls mysqlTls) {}

  /**
   * Starts what was not given.
   *
   * @throws io.gameq.GameQueueException when a server cannot start; none is left running
   */
  public ScratchServers(Given given) {
    redisTls = given.redisTls();
    try {
      String redisName;
      if (given.redisUri() != null) {
        redisUri = given.redisUri();
        redisName = "Redis as given";
      } else {
        EmbeddedRedis redis = EmbeddedRedis.start();
        started.push(redis);
        redisUri = redis.uri();
        redisName = "Redis " + redis.version() + " (embedded)";
      }
      if (given.jdbcUrl() != null) {
        mysql =
            new MySqlConfig(
                given.jdbcUrl(),
                given.user(),
                Password.of(given.password()),
                POOL_SIZE,
                given.mysqlTls());
      } else {
        EmbeddedMariaDb mariaDb = EmbeddedMariaDb.start();
        started.push(mariaDb);
        mysql =
            new MySqlConfig(
                mariaDb.jdbcUrl(DATABASE), mariaDb.user(), mariaDb.password(), POOL_SIZE);
        ScratchDatabase.create(
            new MySqlConfig(mariaDb.jdbcUrl(), mariaDb.user(), mariaDb.password(), 1), DATABASE);
      }
      embedded = started.size();
      description =
          redisName
              + ", "
              + ScratchDatabase.version(mysql)
              + (given.jdbcUrl() == null ? " (embedded)" : " as given");
    } catch (RuntimeException | LinkageError e) {
      close();
      throw e;
    }
  }

  public String redisUri() {
    return redisUri;
  }

  /** With the login of a role. */
  public RedisConfig redis(RedisLogin login) {
    return new RedisConfig(
        redisUri, login, RedisLogin.NONE, redisTls, RedisConfig.DEFAULT_TIMEOUT_MILLIS);
  }

  public MySqlConfig mysql() {
    return mysql;
  }

  /** Whether both end with this, so that nothing need be cleaned up on them. */
  public boolean areEmbedded() {
    return embedded == 2;
  }

  /** Both servers and their versions, in one line. */
  public String description() {
    return description;
  }

  @Override
  public void close() {
    while (!started.isEmpty()) {
      try {
        started.pop().close();
      } catch (Exception e) {
        // The next server must still be stopped; both end with this JVM at the latest.
        System.err.println("while stopping a server: " + e.getMessage());
      }
    }
  }
}
