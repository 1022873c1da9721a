package io.gameq.servers;

import io.gameq.lab.servers.EmbeddedMariaDb;
import io.gameq.lab.servers.EmbeddedRedis;
import io.gameq.rights.MySqlRights.Role;
import io.lettuce.core.RedisClient;
import io.lettuce.core.api.StatefulRedisConnection;
import java.sql.SQLException;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * One Redis and one MySQL for all tests of this JVM, started at first use; thread-safe.
 *
 * <p>Given URLs come first, then Docker, then the embedded servers:
 *
 * <pre>
 * GAMEQ_TEST_REDIS=redis://...  GAMEQ_TEST_MYSQL=jdbc:mysql://...  both: use these
 * GAMEQ_TEST_MYSQL_USER, GAMEQ_TEST_MYSQL_PASSWORD                 may create databases
 * GAMEQ_TEST_SERVERS=docker|embedded                               no other kind is tried
 * GAMEQ_TEST_SERVERS=none                                          skips tests that need them
 * GAMEQ_TEST_MYSQL_IMAGE, GAMEQ_TEST_REDIS_IMAGE                   mysql:9.7, redis:8.0
 * </pre>
 *
 * Each may be a system property or an environment variable. Tests isolate themselves: in MySQL by
 * {@link MySqlServer#freshDatabase}, in Redis by a namespace of their own. A test that harms a
 * server (kill, full memory, failover) starts its own.
 *
 * <p>Nodes, writers and gameq-recovery log in as users with the least rights, made by the scripts
 * that operators run; tests themselves, for what no such user may, as an administrator.
 */
public final class TestServers {
  private static final String ADMIN = "test-admin";

  private static final Map<String, Boolean> NAMESPACES = new ConcurrentHashMap<>();

  private TestServers() {}

  /** The Redis server's URI, with the login of a writer of any namespace. */
  public static String redisUri() {
    return redisUri(Role.WRITER, LeastRedisUsers.ANY);
  }

  /** The same with the login of a role, of any namespace. */
  public static String redisUri(Role role) {
    return redisUri(role, LeastRedisUsers.ANY);
  }

  /** By way of a proxy on this port, with the login of a node of any namespace. */
  public static String redisUri(int proxyPort) {
    String uri = redisUri(Role.NODE);
    return uri.substring(0, uri.lastIndexOf('@') + 1) + "127.0.0.1:" + proxyPort;
  }

  /** The Redis server's URI, with the login of a user that has the least rights of its role. */
  public static String redisUri(Role role, String namespace) {
    Running servers = Started.SERVERS;
    boolean unused =
        NAMESPACES.computeIfAbsent(
            namespace,
            of -> {
              try (StatefulRedisConnection<String, String> admin =
                  servers.redisClient().connect()) {
                LeastRedisUsers.make(admin.sync(), of);
              }
              return true;
            });
    return LeastRedisUsers.uri(servers.redisUri(), role, namespace);
  }

  /** The same server with the login of one who may do anything. */
  public static String adminRedisUri() {
    return Started.SERVERS.redisUri();
  }

  /** A new connection to the Redis server that may do anything; the caller closes it. */
  public static StatefulRedisConnection<String, String> redis() {
    return Started.SERVERS.redisClient().connect();
  }

  /** The MySQL server, without a database. */
  public static MySqlServer mysql() {
    return Started.SERVERS.mysql();
  }

  private record Running(String redisUri, RedisClient redisClient, MySqlServer mysql) {}

  /** Its class initialiser is what happens once; the work is outside, where lambdas may run. */
  private static final class Started {
    static final Running SERVERS = start();

    private Started() {}
  }

  private static Running start() {
    ServerKind kind = choose(ServerKind.asked());
    CompletableFuture<String> redis = CompletableFuture.supplyAsync(() -> startRedis(kind));
    MySqlServer mysql = startMySql(kind);
    String redisUri = kind == ServerKind.GIVEN ? redis.join() : withLogins(redis.join());
    RedisClient client = RedisClient.create(redisUri);
    System.out.printf(
        "gameq tests run on %s servers: Redis %s, MySQL %s%n",
        kind.name().toLowerCase(Locale.ROOT), redisVersion(client), mysqlVersion(mysql));
    return new Running(redisUri, client, mysql);
  }

  /** Nobody gets in any more without a login: what forgets its own fails. */
  private static String withLogins(String uri) {
    String password = UUID.randomUUID().toString();
    RedisClient client = RedisClient.create(uri);
    try (StatefulRedisConnection<String, String> connection = client.connect()) {
      LeastRedisUsers.run(
          connection.sync(), "ACL SETUSER " + ADMIN + " on >" + password + " ~* &* +@all");
      LeastRedisUsers.run(connection.sync(), "ACL SETUSER default off");
    } finally {
      client.shutdown();
    }
    return uri.replace("//", "//" + ADMIN + ":" + password + "@");
  }

  private static ServerKind choose(@Nullable ServerKind asked) {
    if (asked != null) {
      return asked;
    }
    return DockerServers.available() ? ServerKind.DOCKER : ServerKind.EMBEDDED;
  }

  private static String startRedis(ServerKind kind) {
    return switch (kind) {
      case GIVEN -> given("GAMEQ_TEST_REDIS");
      case DOCKER -> DockerServers.startRedis();
      case EMBEDDED, NONE -> EmbeddedRedis.start().uri();
    };
  }

  private static MySqlServer startMySql(ServerKind kind) {
    return switch (kind) {
      case GIVEN ->
          new MySqlServer(
              given("GAMEQ_TEST_MYSQL"),
              ServerKind.setting("GAMEQ_TEST_MYSQL_USER", "root"),
              ServerKind.setting("GAMEQ_TEST_MYSQL_PASSWORD", ""));
      case DOCKER -> DockerServers.startMySql();
      case EMBEDDED, NONE -> {
        // The disk of a build machine says nothing about durability, and tests cut no power.
        EmbeddedMariaDb server =
            EmbeddedMariaDb.start(new EmbeddedMariaDb.Options(null, 0, 2, List.of()));
        yield new MySqlServer(server.jdbcUrl(), server.user(), server.password());
      }
    };
  }

  private static String given(String name) {
    return Objects.requireNonNull(
        ServerKind.setting(name), () -> "GAMEQ_TEST_SERVERS=given needs " + name);
  }

  private static String redisVersion(RedisClient client) {
    try (StatefulRedisConnection<String, String> connection = client.connect()) {
      return connection
          .sync()
          .info("server")
          .lines()
          .filter(line -> line.startsWith("redis_version:"))
          .map(line -> line.substring("redis_version:".length()))
          .findFirst()
          .orElse("of unknown version");
    }
  }

  private static String mysqlVersion(MySqlServer server) {
    try {
      return server.queryText("SELECT VERSION()");
    } catch (SQLException e) {
      throw new IllegalStateException("the test MySQL does not answer: " + server.jdbcUrl(), e);
    }
  }
}
