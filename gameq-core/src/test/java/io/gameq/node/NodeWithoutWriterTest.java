package io.gameq.node;

import static io.gameq.servers.Waits.LONG;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.gameq.CommitPendingException;
import io.gameq.CommitReceipt;
import io.gameq.GameQueue;
import io.gameq.GameQueueException;
import io.gameq.OwnerSession;
import io.gameq.OwnershipLostException;
import io.gameq.RowRefusedException;
import io.gameq.config.GameQueueConfig;
import io.gameq.config.GameQueueConfigBuilder;
import io.gameq.redis.RedisConnection;
import io.gameq.redis.RedisConnector;
import io.gameq.redis.RedisConnector.RedisConfig;
import io.gameq.redis.script.NodeSigns.ProcessSigns;
import io.gameq.redis.script.NodeSigns.ProcessSigns.ProcessSign;
import io.gameq.redis.script.NodeSigns.ProcessSigns.ProcessSign.Beat;
import io.gameq.servers.GameDatabase;
import io.gameq.servers.RedisMonitor;
import io.gameq.servers.TestServers;
import java.nio.file.Path;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A node without any writer: what commits do to Redis, and what is refused before. */
class NodeWithoutWriterTest {
  private static final GameDatabase DATABASE = database();

  record Item(long playerId, int slot, int itemId, int count) {}

  @TempDir Path walDirectory;

  private final String namespace = "t" + UUID.randomUUID().toString().substring(0, 8);

  private static GameDatabase database() {
    try {
      return GameDatabase.create("node")
          .table(
              "item",
              "player",
              "player_id",
              "player_id BIGINT NOT NULL, slot INT NOT NULL, item_id INT NOT NULL, count INT NOT"
                  + " NULL, PRIMARY KEY (player_id, slot)")
          .table(
              "note",
              "player",
              "player_id",
              "id BIGINT NOT NULL PRIMARY KEY, player_id BIGINT NOT NULL, text MEDIUMTEXT CHARACTER"
                  + " SET utf8mb4");
    } catch (SQLException e) {
      throw new IllegalStateException(e);
    }
  }

  private GameQueueConfigBuilder config() throws SQLException {
    DATABASE.server().execute("DELETE FROM gameq_setting WHERE name = 'namespace'");
    return TestNodes.on(DATABASE)
        .namespace(namespace)
        .node("n1")
        .slots(4)
        .walDirectory(walDirectory);
  }

  private GameQueue node() throws SQLException {
    return GameQueue.open(config().build());
  }

  @Test
  void oneCommitIsOneMultiOfPlainCommands() throws Exception {
    try (GameQueue queue = node();
        RedisMonitor monitor = new RedisMonitor()) {
      OwnerSession player = queue.open("player:42");
      TestServers.redis().sync().echo("opened");
      player.put(new Item(42, 1, 1001, 5));
      player.put(new Item(42, 2, 1002, 1));
      player.commit().awaitQueued(LONG);
      monitor.commandsUntil("nothing of interest", "opened");
      assertEquals(
          List.of("MULTI", "MGET", "HSET", "ZADD", "HINCRBY", "EXEC"), monitor.transaction());
    }
  }

  @Test
  void theLatestValueOfARowIsMergedIntoOneField() throws Exception {
    try (GameQueue queue = node()) {
      OwnerSession player = queue.open("player:1");
      for (int i = 1; i < 100; i++) {
        player.put(new Item(1, 1, 7, i));
        player.commit();
      }
      player.put(new Item(1, 1, 7, 100));
      player.commit().awaitQueued(LONG);
      assertEquals(List.of(new Item(1, 1, 7, 100)), queue.read("player:1", Item.class));
      assertEquals(
          1L,
          TestServers.redis().sync().keys("{" + namespace + ":*:dirty:*").stream()
              .mapToLong(k -> TestServers.redis().sync().hlen(k))
              .sum());
      assertEquals(Set.of("item:1,1"), player.notDurable());
    }
  }

  @Test
  void namesWhatIsWrongWithARowBeforeAnythingIsWritten() throws Exception {
    try (GameQueue queue = node()) {
      OwnerSession player = queue.open("player:3");
      assertMessage(
          RowRefusedException.class, "belongs to player:4", () -> player.put(new Item(4, 1, 1, 1)));
      assertMessage(
          RowRefusedException.class,
          "no column colour",
          () ->
              player.put(
                  "item",
                  Map.of("player_id", 3, "slot", 1, "item_id", 1, "count", 1, "colour", 2)));
      assertMessage(
          RowRefusedException.class,
          "slot",
          () -> player.put("item", Map.of("player_id", 3, "item_id", 1, "count", 1)));
      assertMessage(
          GameQueueException.class,
          "table itme is not managed",
          () -> player.put("itme", Map.of()));
      assertMessage(RowRefusedException.class, "key parts", () -> player.delete(Item.class, 3));
      assertMessage(
          RowRefusedException.class, "names another owner", () -> player.delete(Item.class, 4, 1));
      assertMessage(
          RowRefusedException.class,
          "cannot move",
          () -> player.move(new Item(4, 1, 1, 1), player));
      player.rollback();
      player.commit().awaitQueued(LONG);
      assertEquals(List.of(), queue.read("player:3", Item.class));
    }
  }

  @Test
  void aRowOrACommitOverTheLimitIsRefusedWithItsSize() throws Exception {
    try (GameQueue queue =
        GameQueue.open(config().maxRowBytes(2_000).maxCommit(3, 5_000).build())) {
      OwnerSession player = queue.open("player:3");
      assertMessage(
          RowRefusedException.class,
          "2048 bytes encoded, the limit is 2000",
          () -> player.put("note", Map.of("id", 1, "player_id", 3, "text", "x".repeat(2_020))));
      player.rollback();
      for (int slot = 0; slot < 3; slot++) {
        player.put(new Item(3, slot, 1, 1));
      }
      assertMessage(
          GameQueueException.class,
          "a commit of 4 rows and messages, the limit is 3",
          () -> player.put(new Item(3, 3, 1, 1)));
      player.rollback();
      Map<String, ?> note = Map.of("id", 1, "player_id", 3, "text", "x".repeat(1_900));
      player.put("note", note);
      player.put("note", note);
      player.put("note", Map.of("id", 2, "player_id", 3, "text", "x".repeat(1_900)));
      assertMessage(
          GameQueueException.class,
          "bytes, the limit is 5,000",
          () -> player.put("note", Map.of("id", 3, "player_id", 3, "text", "x".repeat(1_900))));
    }
  }

  @Test
  void anOwnerIdThatDoesNotFitItsColumnIsRefused() throws Exception {
    try (GameQueue queue = node()) {
      assertMessage(
          GameQueueException.class, "player:abc does not fit", () -> queue.open("player:abc"));
      assertMessage(
          GameQueueException.class, "player:042 does not fit", () -> queue.open("player:042"));
      assertMessage(GameQueueException.class, "known kinds: [player]", () -> queue.open("guild:1"));
      assertMessage(GameQueueException.class, "not 'kind:key'", () -> queue.open("42"));
    }
  }

  @Test
  void halfOfAMoveIsRefusedAndStaysStaged() throws Exception {
    try (GameQueue queue = node()) {
      OwnerSession a = queue.open("player:1");
      OwnerSession b = queue.open("player:2");
      a.move("note", Map.of("id", 7, "player_id", 2), b);
      assertMessage(GameQueueException.class, "commit both sessions together", a::commit);
      queue.commit(a, b).awaitQueued(LONG);
      assertEquals(1, queue.read("player:2", "note").size());
    }
  }

  @Test
  void aWaitThatRanOutSaysThatTheCommitGoesOn() throws Exception {
    try (GameQueue queue = node()) { // no writer is here
      OwnerSession player = queue.open("player:17");
      player.put(new Item(17, 1, 1, 1));
      CommitReceipt receipt = player.commit();
      assertThrows(CommitPendingException.class, () -> receipt.awaitDurable(Duration.ofMillis(1)));
      receipt.awaitQueued(LONG);
      assertFalse(receipt.durable().isDone());
    }
  }

  @Test
  void aWaitForMySqlThatRanOutSaysWhetherWritersRun() throws Exception {
    ProcessSigns signs = new ProcessSigns(namespace);
    try (GameQueue queue = node();
        RedisConnector redis = new RedisConnector(new RedisConfig(TestServers.adminRedisUri()));
        RedisConnection connection = redis.open()) {
      OwnerSession player = queue.open("player:18");
      player.put(new Item(18, 1, 1, 1));
      CommitReceipt receipt = player.commit();
      receipt.awaitQueued(LONG);
      assertTrue(late(receipt).endsWith("; no writer runs: start one, 'gameq-writer run'"));

      signs.tell(connection, "0000abcd", ProcessSigns.WRITER, Map.of("outage", "true"));
      await().atMost(LONG).until(() -> late(receipt).contains("1 writer runs, the newest sign of"));
      assertTrue(late(receipt).contains("s old, and MySQL does not answer them: "), late(receipt));
    }
    ProcessSign gone =
        new ProcessSign("0000abcd", 90_000, Beat.NONE, Map.of("kind", ProcessSigns.WRITER));
    assertEquals(
        "no writer runs, the newest sign of one is 90 s old: start one, 'gameq-writer run'",
        WriterLook.text(List.of(gone)));
  }

  private static String late(CommitReceipt receipt) {
    return String.valueOf(
        assertThrows(
                CommitPendingException.class, () -> receipt.awaitDurable(Duration.ofMillis(800)))
            .getMessage());
  }

  @Test
  void aSpanningCommitWithALostSessionChangesNothing() throws Exception {
    try (GameQueue queue = node();
        GameQueue other = GameQueue.open(config().node("n2").build())) {
      OwnerSession a = queue.open("player:11");
      OwnerSession b = queue.open("player:12");
      other.open("player:12");
      a.put(new Item(11, 1, 1, 1));
      b.put(new Item(12, 1, 1, 1));
      OwnershipLostException lost =
          assertThrows(OwnershipLostException.class, () -> queue.commit(a, b).awaitQueued(LONG));
      assertEquals("player:12", lost.owner());
      assertEquals(List.of(), queue.read("player:11", Item.class));
      assertEquals(List.of(), queue.read("player:12", Item.class));
      a.put(new Item(11, 2, 2, 2));
      a.commit().awaitQueued(LONG);
      assertEquals(List.of(new Item(11, 2, 2, 2)), queue.read("player:11", Item.class));
    }
  }

  @Test
  void commitsWhoseConnectionBreaksAreSentAgainAndSeenOnce() throws Exception {
    try (GameQueue queue = node()) {
      OwnerSession player = queue.open("player:21");
      for (int i = 1; i <= 2_000; i++) {
        player.put(new Item(21, i % 50, 7, i));
        player.commit();
        if (i % 500 == 0) {
          TestServers.redis()
              .sync()
              .clientKill(io.lettuce.core.KillArgs.Builder.typeNormal().skipme());
        }
      }
      player.put(new Item(21, 99, 7, 1));
      player.commit().awaitQueued(LONG);
      List<Item> items = queue.read("player:21", Item.class);
      assertEquals(51, items.size());
      assertTrue(
          items.stream().allMatch(item -> item.slot() == 99 || item.count() > 1_950),
          items::toString);
    }
  }

  @Test
  void aRedisThatForgotTheSessionIsToldAgain() throws Exception {
    try (GameQueue queue = node()) {
      OwnerSession player = queue.open("player:31");
      TestServers.redis()
          .sync()
          .keys("{" + namespace + ":*:own:*")
          .forEach(key -> TestServers.redis().sync().del(key));
      player.put(new Item(31, 1, 1, 1));
      player.commit().awaitQueued(LONG);
      assertEquals(1, TestServers.redis().sync().keys("{" + namespace + ":*:own:*").size());
      assertEquals(List.of(new Item(31, 1, 1, 1)), queue.read("player:31", Item.class));
    }
  }

  @Test
  void slotsOtherThanTheDatabasesAreRefused() throws Exception {
    node().close();
    assertMessage(
        GameQueueException.class,
        "this configuration has slots 8, the database has 4",
        () -> GameQueue.open(config().slots(8).build()));
  }

  @Test
  void wrongCredentialsAreNamedWithoutThePassword() throws Exception {
    GameQueueConfig config =
        config().mysql(DATABASE.server().jdbcUrl(), "nobody", "s3cret").build();
    String message =
        assertMessage(GameQueueException.class, "nobody", () -> GameQueue.open(config));
    assertTrue(!message.contains("s3cret"), message);
  }

  private static String assertMessage(
      Class<? extends GameQueueException> type,
      String part,
      org.junit.jupiter.api.function.Executable call) {
    String message = String.valueOf(assertThrows(type, call).getMessage());
    assertTrue(message.contains(part), message);
    return message;
  }
}
