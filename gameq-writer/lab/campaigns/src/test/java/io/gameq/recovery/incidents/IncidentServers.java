package io.gameq.recovery.incidents;

import io.gameq.servers.DockerServers;
import io.gameq.servers.MySqlServer;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.api.sync.RedisCommands;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import org.testcontainers.containers.Container.ExecResult;
import org.testcontainers.containers.GenericContainer;
import org.testcontainers.containers.wait.strategy.Wait;
import org.testcontainers.mysql.MySQLContainer;

/**
 * A MySQL on a small disk and one Redis or more, in containers of one incident's own. Used by its
 * thread.
 */
final class IncidentServers implements AutoCloseable {
  private static final String PASSWORD = "incident-test";
  private static final String DATA = "/var/lib/mysql";

  private final MySQLContainer mysql =
      new MySQLContainer(DockerServers.mysqlImage())
          .withUsername("root")
          .withPassword(PASSWORD)
          .withTmpFs(Map.of(DATA, "rw,size=700m"));
  private final List<GenericContainer<?>> redises = new ArrayList<>();
  private final RedisClient client = RedisClient.create();

  IncidentServers() {
    mysql.start();
    startRedis();
  }

  /** One more; its number. */
  int startRedis() {
    GenericContainer<?> redis =
        new GenericContainer<>(DockerServers.redisImage())
            .withExposedPorts(6379)
            .withCommand(
                "redis-server --protected-mode no --bind 0.0.0.0 --appendonly yes"
                    + " --maxmemory 200mb --maxmemory-policy noeviction")
            .waitingFor(Wait.forListeningPort());
    redis.start();
    redises.add(redis);
    return redises.size() - 1;
  }

  String redisUri(int number) {
    GenericContainer<?> redis = redises.get(number);
    return "redis://" + redis.getHost() + ":" + redis.getMappedPort(6379);
  }

  /** Where another container finds it. */
  String redisAddress(int number) {
    return on(redises.get(number), "hostname -i").strip();
  }

  /** Asks a Redis as an administrator. */
  <T> T redis(int number, Function<RedisCommands<String, String>, T> question) {
    try (StatefulRedisConnection<String, String> connection =
        client.connect(RedisURI.create(redisUri(number)))) {
      return question.apply(connection.sync());
    }
  }

  /** An administrator of MySQL, without a database. */
  MySqlServer mysql() {
    return new MySqlServer(
        "jdbc:mysql://" + mysql.getHost() + ":" + mysql.getMappedPort(3306) + "/",
        "root",
        PASSWORD);
  }

  /** Takes the last byte of MySQL's disk. */
  void fillDisk() {
    onMySqlHost("dd if=/dev/zero of=" + DATA + "/fill bs=64k 2>/dev/null; true");
  }

  void freeDisk() {
    onMySqlHost("rm " + DATA + "/fill");
  }

  void backUp(String database) {
    onMySqlHost(
        "mysqldump -uroot -p%s --single-transaction --set-gtid-purged=OFF %s > /tmp/backup.sql"
            .formatted(PASSWORD, database));
  }

  void restore(String database) {
    onMySqlHost("mysql -uroot -p%s %s < /tmp/backup.sql".formatted(PASSWORD, database));
  }

  private void onMySqlHost(String command) {
    String unused = on(mysql, command);
  }

  /** Runs it in a container; what it printed. */
  private static String on(GenericContainer<?> container, String command) {
    try {
      ExecResult result = container.execInContainer("sh", "-c", command);
      if (result.getExitCode() != 0) {
        throw new IllegalStateException(command + ": " + result.getStderr());
      }
      return result.getStdout();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(e);
    }
  }

  @Override
  public void close() {
    client.shutdown();
    redises.forEach(GenericContainer::stop);
    mysql.stop();
  }
}
