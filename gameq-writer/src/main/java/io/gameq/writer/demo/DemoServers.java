package io.gameq.writer.demo;

import io.gameq.embedded.EmbeddedMariaDb;
import io.gameq.embedded.EmbeddedRedis;
import io.gameq.mysql.MySqlConfig;
import io.gameq.writer.mysql.DemoDatabase;
import java.util.ArrayDeque;
import java.util.Deque;
import org.jspecify.annotations.Nullable;

/** The Redis and the MySQL of a demo: embedded ones, or those that were given. One thread. */
final class DemoServers implements AutoCloseable {
  /** Of each MySQL pool: a demo's nodes and writers are few. */
  private static final int POOL_SIZE = 8;

  private static final String DATABASE = "gameq_demo";

  private final Deque<AutoCloseable> started = new ArrayDeque<>();
  private final String redisUri;
  private final MySqlConfig mysql;
  private final String description;

  /** Servers to use instead of embedded ones; null: embedded. */
  record Given(@Nullable String redisUri, @Nullable String jdbcUrl, String user, String password) {}

  /**
   * Starts what was not given.
   *
   * @throws io.gameq.GameQueueException when a server cannot start; none is left running
   */
  DemoServers(Given given) {
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
        mysql = new MySqlConfig(given.jdbcUrl(), given.user(), given.password(), POOL_SIZE);
      } else {
        EmbeddedMariaDb mariaDb = EmbeddedMariaDb.start();
        started.push(mariaDb);
        mysql =
            new MySqlConfig(
                mariaDb.jdbcUrl(DATABASE), mariaDb.user(), mariaDb.password(), POOL_SIZE);
        DemoDatabase.create(
            new MySqlConfig(mariaDb.jdbcUrl(), mariaDb.user(), mariaDb.password(), 1), DATABASE);
      }
      description =
          redisName
              + ", "
              + DemoDatabase.version(mysql)
              + (given.jdbcUrl() == null ? " (embedded)" : " as given");
    } catch (RuntimeException | LinkageError e) {
      close();
      throw e;
    }
  }

  String redisUri() {
    return redisUri;
  }

  MySqlConfig mysql() {
    return mysql;
  }

  /** Both servers and their versions, in one line. */
  String description() {
    return description;
  }

  @Override
  public void close() {
    while (!started.isEmpty()) {
      try {
        started.pop().close();
      } catch (Exception e) {
        // The next server must still be stopped; both end with this JVM at the latest.
        System.err.println("while stopping a server of the demo: " + e.getMessage());
      }
    }
  }
}
