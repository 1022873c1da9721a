package io.gameq.node;

import static io.gameq.config.EarlierWals.IGNORE;
import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.gameq.GameQueue;
import io.gameq.GameQueueException;
import io.gameq.config.GameQueueConfigBuilder;
import io.gameq.redis.RedisConnection;
import io.gameq.redis.RedisConnector;
import io.gameq.redis.RedisConnector.RedisConfig;
import io.gameq.servers.GameDatabase;
import io.gameq.servers.TestServers;
import io.gameq.sign.ProcessIdentity;
import io.lettuce.core.SetArgs;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.SQLException;
import java.util.UUID;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** Two nodes that are alive do not have one name, such as by a setting that was copied. */
@Execution(ExecutionMode.CONCURRENT)
class NodeNameTest {
  private static final String GONE = "0badcafe";

  @TempDir Path directory;

  private final String namespace = "n" + UUID.randomUUID().toString().substring(0, 8);
  private final byte[] key = (namespace + ":name:n1").getBytes(US_ASCII);
  private final GameDatabase database =
      GameDatabase.create("names")
          .table(
              "item",
              "player",
              "player_id",
              "id BIGINT PRIMARY KEY, player_id BIGINT NOT NULL, KEY (player_id)");
  private final RedisConnector connector =
      new RedisConnector(new RedisConfig(TestServers.adminRedisUri()));
  private final RedisConnection redis = connector.open();

  NodeNameTest() throws SQLException {}

  @AfterEach
  void close() {
    connector.close();
  }

  private GameQueueConfigBuilder config(String host) {
    return TestNodes.on(database)
        .namespace(namespace)
        .node("n1")
        .walDirectory(directory.resolve(host));
  }

  private GameQueue start(String host) {
    return GameQueue.open(config(host).build());
  }

  @Test
  void theSecondIsRefusedAndNamesTheFirst() {
    try (GameQueue first = start("a")) {
      GameQueueException refused = assertThrows(GameQueueException.class, () -> start("b"));
      String host = ProcessIdentity.hostName();
      assertTrue(
          refused.getMessage().contains("n1 runs already, on host " + host), refused::getMessage);
      first.open("player:1").close();
    }
    start("b").close(); // who ends in order leaves the name
    start("a").close();
  }

  @Test
  void whoDiedIsWaitedForAsLongAsItsSignOfLifeLasts() {
    long began = System.nanoTime();
    redis.sync().set(key, (GONE + " far").getBytes(US_ASCII), SetArgs.Builder.px(1_500));
    start("a").close();
    assertTrue(System.nanoTime() - began >= 1_400_000_000L, "started beside it");
  }

  @Test
  void whoDiedHereIsNotWaitedFor() throws Exception {
    Path wal = directory.resolve("a").resolve("n1-20260101T000000Z-" + GONE);
    Files.createDirectories(wal);
    Files.createFile(wal.resolve("20260101.cq4"));
    redis.sync().set(key, (GONE + " here").getBytes(US_ASCII)); // for ever
    try (GameQueue queue = GameQueue.open(config("a").earlierWals(IGNORE).build())) {
      String has = new String(redis.sync().get(key), US_ASCII);
      assertTrue(has.endsWith(" " + ProcessIdentity.hostName()), has);
      queue.open("player:1").close();
    }
    assertEquals(0, redis.sync().exists(key));
  }
}
