package io.gameq.redis;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.gameq.GameQueueException;
import io.gameq.redis.RedisConnector.RedisConfig;
import io.gameq.servers.RedisProcess;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Servers that are no primary, or not one yet: what may pass by itself is an outage. */
class RedisKindsTest {
  @TempDir Path directory;

  /** A member of a cluster listens at one that is 10,000 higher as well. */
  private static final int MOST_PORT = 55_535;

  private final int port =
      IntStream.generate(RedisProcess::freePort)
          .filter(of -> of <= MOST_PORT)
          .findFirst()
          .getAsInt();

  private RedisProcess server(String... settings) {
    List<String> all = new ArrayList<>(List.of("port " + port, "save \"\"", "bind 127.0.0.1"));
    all.addAll(List.of(settings));
    return RedisProcess.server(List.of(RedisProcess.executable(directory)), directory, all);
  }

  private RedisConnector connector() {
    return new RedisConnector(new RedisConfig("redis://127.0.0.1:" + port, null, 5_000));
  }

  private GameQueueException refusal() {
    try (RedisConnector connector = connector()) {
      return assertThrows(
          GameQueueException.class,
          () -> {
            try (RedisConnection redis = connector.open()) {
              RedisServerCheck.check(redis);
            }
          });
    }
  }

  @Test
  void aReplicaMayBePromotedYet() {
    try (RedisProcess server = server("replicaof 127.0.0.1 1")) {
      assertTrue(server.isAlive());
      GameQueueException refused = refusal();
      assertTrue(refused.isOutage());
      assertTrue(refused.getMessage().contains("is a replica"), refused.getMessage());
    }
  }

  @Test
  void aServerFullOfClientsMayHaveRoomSoon() {
    try (RedisProcess server = server("maxclients 1");
        RedisConnector first = connector();
        RedisConnection only = first.open()) {
      assertTrue(server.isAlive());
      assertEquals("PONG", only.sync().ping());
      GameQueueException refused = refusal();
      assertTrue(refused.isOutage(), refused.toString());
      assertTrue(refused.getMessage().contains("max number of clients"), refused.getMessage());
    }
  }

  @Test
  void aMemberOfAClusterIsRefusedByName() {
    try (RedisProcess server = server("cluster-enabled yes", "dir " + directory)) {
      assertTrue(server.isAlive());
      GameQueueException refused = refusal();
      assertFalse(refused.isOutage());
      assertTrue(refused.getMessage().contains("Redis Cluster"), refused.getMessage());
    }
  }
}
