package io.gameq.servers;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.testcontainers.DockerClientFactory;
import org.testcontainers.containers.GenericContainer;
import org.testcontainers.containers.wait.strategy.Wait;
import org.testcontainers.images.RemoteDockerImage;
import org.testcontainers.mysql.MySQLContainer;
import org.testcontainers.utility.DockerImageName;

/** Servers in containers. Used by the one thread that starts {@link TestServers}. */
public final class DockerServers {
  /** A daemon without images and without a registry can hang for minutes. */
  private static final int PROBE_SECONDS = 20;

  private static final String PASSWORD = "gameq-test";

  private DockerServers() {}

  /** Whether a daemon answers and has both images, or gets them in time. Never throws. */
  public static boolean available() {
    CompletableFuture<Boolean> answer = new CompletableFuture<>();
    Thread probe =
        new Thread(
            () -> {
              try {
                answer.complete(
                    DockerClientFactory.instance().isDockerAvailable()
                        && !new RemoteDockerImage(redisImage()).get().isEmpty()
                        && !new RemoteDockerImage(mysqlImage()).get().isEmpty());
              } catch (Throwable anyReason) {
                answer.complete(false);
              }
            },
            "gameq-docker-probe");
    probe.setDaemon(true);
    probe.start();
    try {
      return answer.get(PROBE_SECONDS, TimeUnit.SECONDS);
    } catch (TimeoutException e) {
      return false;
    } catch (Exception e) {
      throw new IllegalStateException(e);
    }
  }

  static String startRedis() {
    GenericContainer<?> redis =
        new GenericContainer<>(redisImage())
            .withExposedPorts(6379)
            .withCommand(
                "redis-server --protected-mode no --bind 0.0.0.0 --appendonly no --maxmemory-policy"
                    + " noeviction")
            .waitingFor(Wait.forListeningPort());
    redis.start();
    stopAtExit(redis);
    return "redis://" + redis.getHost() + ":" + redis.getMappedPort(6379);
  }

  static MySqlServer startMySql() {
    MySQLContainer mysql =
        new MySQLContainer(mysqlImage()).withUsername("root").withPassword(PASSWORD);
    mysql.start();
    stopAtExit(mysql);
    return new MySqlServer(
        "jdbc:mysql://" + mysql.getHost() + ":" + mysql.getMappedPort(3306) + "/",
        "root",
        PASSWORD);
  }

  // Testcontainers leaves this to its Ryuk container, which not every machine can run.
  private static void stopAtExit(GenericContainer<?> container) {
    Runtime.getRuntime().addShutdownHook(new Thread(container::stop, "gameq-container-stop"));
  }

  /** Of {@code GAMEQ_TEST_REDIS_IMAGE}. */
  public static DockerImageName redisImage() {
    return DockerImageName.parse(ServerKind.setting("GAMEQ_TEST_REDIS_IMAGE", "redis:8.0"))
        .asCompatibleSubstituteFor("redis");
  }

  /** Of {@code GAMEQ_TEST_MYSQL_IMAGE}. */
  public static DockerImageName mysqlImage() {
    return DockerImageName.parse(ServerKind.setting("GAMEQ_TEST_MYSQL_IMAGE", "mysql:9.7"))
        .asCompatibleSubstituteFor("mysql");
  }
}
