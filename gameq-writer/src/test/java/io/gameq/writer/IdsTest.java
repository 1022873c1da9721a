package io.gameq.writer;

import static io.gameq.servers.Waits.LONG;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.gameq.GameQueue;
import io.gameq.GameQueueException;
import io.gameq.Ids;
import io.gameq.OwnerSession;
import io.gameq.config.GameQueueConfig;
import io.gameq.owner.OwnerId;
import io.gameq.owner.SessionId;
import io.gameq.redis.RedisConnection;
import io.gameq.redis.RedisConnector;
import io.gameq.redis.RedisConnector.RedisConfig;
import io.gameq.redis.SlotKeys;
import io.gameq.redis.script.ClaimScript;
import io.gameq.rights.MySqlRights.Role;
import io.gameq.servers.ChildJvm;
import io.gameq.servers.GameDatabase;
import io.gameq.servers.TestServers;
import io.gameq.writer.service.WriterService;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** Ids for new rows, taken in ranges by nodes of several processes. */
@Execution(ExecutionMode.CONCURRENT)
class IdsTest {
  record Item(long id, long playerId) {}

  record Slot(long playerId, int slot) {}

  record Part(long id, long playerId) {}

  record Rule(long id, long playerId) {}

  record Mark(String name, long playerId, long number) {}

  @TempDir Path directory;

  private Game game;

  /** A node of another process, which takes ids and says them until it is killed. */
  static final class Taker {
    private Taker() {}

    public static void main(String[] ignored) throws IOException {
      BufferedReader in =
          new BufferedReader(new InputStreamReader(System.in, StandardCharsets.US_ASCII));
      String redis = in.readLine();
      String url = in.readLine();
      String user = in.readLine();
      String password = in.readLine();
      String namespace = in.readLine();
      GameQueue queue =
          GameQueue.open(
              GameQueueConfig.builder()
                  .redis(redis)
                  .mysql(url, user, password)
                  .namespace(namespace)
                  .slots(Game.SLOTS)
                  .node("taker")
                  .walDirectory(Path.of(in.readLine()))
                  .build());
      Ids ids = queue.ids("item", 10);
      while (true) {
        System.out.println("id " + ids.next());
      }
    }
  }

  @BeforeEach
  void start() throws Exception {
    game =
        new Game(
            GameDatabase.create("ids")
                .table(
                    "item",
                    "player",
                    "player_id",
                    "id BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY, player_id BIGINT NOT NULL")
                .table(
                    "part",
                    "player",
                    "player_id",
                    "id BIGINT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY, player_id BIGINT NOT"
                        + " NULL")
                .table(
                    "rule",
                    "player",
                    "player_id",
                    "id BIGINT NOT NULL PRIMARY KEY, player_id BIGINT NOT NULL, CHECK (id < 1000)")
                .table(
                    "mark",
                    "player",
                    "player_id",
                    "name VARCHAR(20) COLLATE utf8mb4_bin NOT NULL PRIMARY KEY, player_id BIGINT"
                        + " NOT NULL, number INT NOT NULL AUTO_INCREMENT UNIQUE")
                .table(
                    "slot",
                    "player",
                    "player_id",
                    "player_id BIGINT NOT NULL, slot TINYINT NOT NULL, PRIMARY KEY (player_id,"
                        + " slot)")
                .table(
                    "cell",
                    "player",
                    "player_id",
                    "player_id BIGINT NOT NULL, x INT NOT NULL, y INT NOT NULL, PRIMARY KEY"
                        + " (player_id, x, y)"),
            directory);
    game.database.server().execute("INSERT INTO item (id, player_id) VALUES (41, 7)");
  }

  @AfterEach
  void stop() {
    game.close();
  }

  @Test
  void rowsOfATableWithAutoIncrementAreInsertedAboveThoseThatAreThere() throws Exception {
    try (GameQueue queue = game.node("n1");
        WriterService writer = game.writer("w1")) {
      Ids ids = queue.ids("item");
      OwnerSession player = queue.open("player:1");
      long id = ids.next();
      player.put(new Item(id, 1));
      player.put(new Item(ids.next(), 1));
      player.commit();
      assertEquals(Set.of(), player.awaitDurable(LONG));
      assertEquals(42, id);
      assertEquals("41,42,43", game.queryText("SELECT GROUP_CONCAT(id ORDER BY id) FROM item"));
    }
  }

  @Test
  void theyBeginAboveWhatWaitsInRedis() throws Exception {
    try (GameQueue queue = game.node("n1");
        GameQueue other = game.node("n2")) {
      put(queue, "player:1", new Item(5_000, 1));
      assertEquals(5_001, other.ids("item").next());
      put(queue, "player:2", new Slot(2, 40));
      claim("player:2");
      put(queue, "player:2", new Slot(2, 39));
      assertEquals(41, other.ids("slot", 5).next());
      queue.send("player:3", new Part(7_000_000, 3)).awaitQueued(LONG);
      assertEquals(7_000_001, other.ids("part").next());
      put(queue, "player:4", new Mark("x", 4, 777));
      assertEquals(778, other.ids("mark").next(), "of a column that is not in the primary key");
    }
  }

  @Test
  void theyBeginAboveRowsThatMySqlRefused() throws Exception {
    try (GameQueue queue = game.node("n1");
        GameQueue other = game.node("n2");
        WriterService writer = game.writer("w1")) {
      put(queue, "player:1", new Rule(2_000, 1));
      await()
          .atMost(LONG)
          .until(() -> game.queryText("SELECT COUNT(*) FROM gameq_dead_letter").equals("1"));
      assertEquals(2_001, other.ids("rule").next());
    }
  }

  @Test
  void whatIsDamagedInRedisKeepsNobodyFromTakingIds() throws Exception {
    try (GameQueue queue = game.node("n1");
        RedisConnector connector =
            new RedisConnector(new RedisConfig(TestServers.redisUri(Role.WRITER, game.namespace)));
        RedisConnection redis = connector.open()) {
      OwnerId owner = OwnerId.of("player:1");
      put(queue, "player:1", new Item(60, 1));
      SlotKeys slot = new SlotKeys(game.namespace, owner.slot(Game.SLOTS));
      byte[] session = redis.sync().get(slot.own(owner));
      byte[] damaged = SlotKeys.bytes("item:x");
      redis.sync().hset(slot.dirty(owner, SessionId.parse(text(session))), damaged, damaged);
      assertEquals(61, queue.ids("item").next());
    }
  }

  private static String text(byte[] ascii) {
    return new String(ascii, StandardCharsets.US_ASCII);
  }

  private static void put(GameQueue queue, String owner, Record row) {
    OwnerSession session = queue.open(owner);
    session.put(row);
    session.commit().awaitQueued(LONG);
  }

  /** As a writer does, which then stands still. */
  private void claim(String owner) {
    OwnerId id = OwnerId.of(owner);
    SlotKeys slot = new SlotKeys(game.namespace, id.slot(Game.SLOTS));
    ClaimScript claims = new ClaimScript("w", new ClaimScript.Bounds(500, 2_000, 8 << 20, 600_000));
    ClaimScript.Share all = new ClaimScript.Share(slot, 500, 2_000);
    try (RedisConnector connector =
            new RedisConnector(new RedisConfig(TestServers.redisUri(Role.WRITER, game.namespace)));
        RedisConnection redis = connector.open()) {
      await()
          .atMost(LONG)
          .until(
              () ->
                  claims.callEach(redis, List.of(all), false).get(0).get().claims().stream()
                      .anyMatch(of -> of.owner().equals(id)));
    }
  }

  @Test
  void theyBeginAboveWhatMySqlHasGivenThoughItsRowIsGoneAndItsStatisticsAreOld() throws Exception {
    assertEquals(
        "42",
        game.queryText(
            "SELECT AUTO_INCREMENT FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE()"
                + " AND TABLE_NAME = 'item'"));
    game.database.server().execute("INSERT INTO item (id, player_id) VALUES (900, 7)");
    game.database.server().execute("DELETE FROM item WHERE id = 900");
    try (GameQueue queue = game.node("n1")) {
      assertEquals(901, queue.ids("item").next());
    }
  }

  @Test
  void noTwoThreadsOfTwoNodesGetTheSame() throws Exception {
    Set<Long> all = ConcurrentHashMap.newKeySet();
    ExecutorService threads = Executors.newFixedThreadPool(4);
    try (GameQueue one = game.node("n1");
        GameQueue two = game.node("n2")) {
      List<Future<?>> takers =
          List.of(
              threads.submit(() -> take(one, all)),
              threads.submit(() -> take(one, all)),
              threads.submit(() -> take(two, all)),
              threads.submit(() -> take(two, all)));
      for (Future<?> taker : takers) {
        taker.get();
      }
    } finally {
      threads.shutdownNow();
    }
    assertEquals(4 * 2_000, all.size());
  }

  private static void take(GameQueue queue, Set<Long> all) {
    Ids ids = queue.ids("item", 100);
    long before = 0;
    for (int i = 0; i < 2_000; i++) {
      long id = ids.next();
      assertTrue(id > before, "larger than " + before + ": " + id);
      assertTrue(all.add(id), "twice: " + id);
      before = id;
    }
  }

  @Test
  void noneIsGivenAgainAfterAKill() throws Exception {
    Set<Long> all = new HashSet<>();
    for (int start = 0; start < 2; start++) {
      ChildJvm taker = ChildJvm.start(directory.resolve("taker.log"), Taker.class, List.of());
      for (String line :
          List.of(
              TestServers.redisUri(Role.NODE),
              game.database.server().jdbcUrl(),
              game.database.as(Role.NODE).user(),
              game.database.as(Role.NODE).password(),
              game.namespace,
              directory.resolve("taker").toString())) {
        taker.tell(line);
      }
      try {
        for (int i = 0; i < 500 + 7 * start; i++) {
          String line = taker.awaitLine("id ");
          assertTrue(all.add(Long.parseLong(line.substring(3))), "twice: " + line);
        }
      } finally {
        taker.kill();
      }
    }
  }

  @Test
  void aColumnThatHoldsNoLargerIdsSaysSo() {
    try (GameQueue queue = game.node("n1")) {
      Ids ids = queue.ids("slot", 50);
      GameQueueException full =
          assertThrows(
              GameQueueException.class,
              () -> {
                for (int i = 0; i < 128; i++) {
                  ids.next();
                }
              });
      assertTrue(String.valueOf(full.getMessage()).contains("slot.slot"), full.getMessage());
    }
  }

  @Test
  void aTableWithoutSuchAColumnIsRefused() {
    try (GameQueue queue = game.node("n1")) {
      GameQueueException two = assertThrows(GameQueueException.class, () -> queue.ids("cell"));
      assertTrue(String.valueOf(two.getMessage()).contains("several columns"), two.getMessage());
      assertThrows(GameQueueException.class, () -> queue.ids("nothing"));
      assertThrows(GameQueueException.class, () -> queue.ids("item", 0));
    }
  }
}
