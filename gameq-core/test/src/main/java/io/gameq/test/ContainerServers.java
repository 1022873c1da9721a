package io.gameq.test;

import io.gameq.test.GameQueueTest.ServerAddresses;
import java.time.Duration;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.testcontainers.containers.GenericContainer;
import org.testcontainers.containers.wait.strategy.Wait;

/** A Redis and a MySQL in containers, for all tests of a JVM. Thread-safe. */
final class ContainerServers {
  private static final String PASSWORD = "gameq-test";
  private static final Duration MOST_START = Duration.ofMinutes(3);

  private static @Nullable ServerAddresses started;

  private ContainerServers() {}

  /** Starts them once; Testcontainers ends them after the JVM. */
  static synchronized ServerAddresses get() {
    ServerAddresses known = started;
    if (known == null) {
      known = start();
      started = known;
    }
    return known;
  }

  private static ServerAddresses start() {
    GenericContainer<?> redis =
        started(
            new GenericContainer<>("redis:8.0")
                .withCommand(
                    "redis-server --protected-mode no --bind 0.0.0.0 --appendonly no"
                        + " --maxmemory-policy noeviction")
                .withExposedPorts(6379)
                .waitingFor(Wait.forListeningPort()));
    GenericContainer<?> mysql =
        started(
            new GenericContainer<>("mysql:9.7")
                .withEnv("MYSQL_ROOT_PASSWORD", PASSWORD)
                .withTmpFs(Map.of("/var/lib/mysql", "rw"))
                .withExposedPorts(3306)
                .waitingFor(
                    Wait.forLogMessage("(?s).*ready for connections.*port: 3306.*", 1)
                        .withStartupTimeout(MOST_START)));
    return new ServerAddresses(
        "redis://" + address(redis), "jdbc:mysql://" + address(mysql), "root", PASSWORD);
  }

  private static GenericContainer<?> started(GenericContainer<?> container) {
    container.start();
    return container;
  }

  private static String address(GenericContainer<?> of) {
    return of.getHost() + ":" + of.getFirstMappedPort();
  }
}
