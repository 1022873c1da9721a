package io.gameq.writer;

import static io.gameq.servers.Waits.LONG;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.gameq.Conflict;
import io.gameq.GameQueue;
import io.gameq.OwnerSession;
import io.gameq.redis.RedisConnection;
import io.gameq.redis.RedisConnector;
import io.gameq.redis.RedisConnector.RedisConfig;
import io.gameq.servers.FaultProxy;
import io.gameq.servers.GameDatabase;
import io.gameq.servers.TestServers;
import io.gameq.wal.WalReader;
import io.gameq.writer.service.WriterService;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Rows of a table that takes none wait for long while others write much. */
class CarriedRowsTest {

  record Pet(long id, long playerId, String name) {}

  @TempDir Path walDirectory;
  @TempDir Path readerWal;

  private final RedisConnector connector =
      new RedisConnector(new RedisConfig(TestServers.adminRedisUri()));
  private final RedisConnection redis = connector.open();
  private final FaultProxy proxy = FaultProxy.ofRedis();
  private final Queue<Conflict> conflicts = new ConcurrentLinkedQueue<>();
  private Game game;

  @BeforeEach
  void start() throws Exception {
    game =
        new Game(
            GameDatabase.create("carried")
                .table(
                    "pet",
                    "player",
                    "player_id",
                    "id BIGINT NOT NULL PRIMARY KEY, player_id BIGINT NOT NULL, name VARCHAR(20)"
                        + " NOT NULL, KEY (player_id)")
                .table(
                    "picture",
                    "player",
                    "player_id",
                    "id INT NOT NULL PRIMARY KEY, player_id BIGINT NOT NULL, data LONGBLOB NOT"
                        + " NULL, KEY (player_id)"),
            walDirectory);
  }

  @AfterEach
  void stop() throws IOException {
    proxy.close();
    game.close();
    connector.close();
  }

  private Set<String> files() throws IOException {
    try (Stream<Path> files = Files.walk(walDirectory)) {
      return new TreeSet<>(
          files
              .map(file -> file.getFileName().toString())
              .filter(f -> f.endsWith(".cq4"))
              .toList());
    }
  }

  private long carried() throws IOException {
    try (Stream<Path> wals = Files.list(walDirectory)) {
      long[] carried = {0};
      WalReader.read(
          wals.findFirst().orElseThrow(), entry -> carried[0] += entry.isCarried() ? 1 : 0);
      return carried[0];
    }
  }

  @Test
  void whatWaitsIsCarriedForwardItsFileGoesAndItIsHealedFromTheNewOne() throws Exception {
    try (GameQueue queue =
            GameQueue.open(
                game.config("n1")
                    .redis(proxy.uri())
                    .walKeep(Duration.ZERO)
                    .walMaxBytes(256 << 20)
                    .onConflict(conflicts::add)
                    .build());
        WriterService writer = game.writer("w1")) {
      game.database
          .server()
          .execute(
              "CREATE TRIGGER bad BEFORE INSERT ON pet FOR EACH ROW INSERT INTO nowhere VALUES"
                  + " (1)");
      OwnerSession one = queue.open("player:1");
      OwnerSession two = queue.open("player:2");
      for (int id = 1; id <= 3; id++) {
        one.put(new Pet(id, 1, "waits"));
        one.commit().awaitQueued(LONG);
      }
      one.put(new Pet(4, 1, "sold"));
      two.put(new Pet(5, 2, "the price"));
      queue.commit(one, two).awaitQueued(LONG);

      Set<String> first = files();
      OwnerSession painter = queue.open("player:9");
      for (int i = 0; i < 20; i++) { // more than a file
        painter.put("picture", Map.of("id", 1, "player_id", 9, "data", new byte[2_000_000]));
        painter.commit().awaitQueued(LONG);
      }
      one.put(new Pet(1, 1, "newest")); // stands before what is carried, and is sent after it
      one.commit().awaitQueued(LONG);
      await().atMost(LONG).until(() -> files().stream().noneMatch(first::contains));
      assertTrue(carried() >= 3, "two commits and a trade at least");

      proxy.refuse(true);
      proxy.cut();
      RedisContents.empty(redis, game.namespace).restore();
      proxy.refuse(false);
      try (GameQueue reader = GameQueue.open(game.config("n2").walDirectory(readerWal).build())) {
        await()
            .atMost(LONG)
            .untilAsserted(
                () ->
                    assertEquals(
                        List.of("newest", "sold", "waits", "waits"), names(reader, "player:1")));
        assertEquals(List.of("the price"), names(reader, "player:2"));
      }
      game.database.server().execute("DROP TRIGGER bad");
      assertEquals(Set.of(), queue.drain(LONG));
      assertEquals("5", game.queryText("SELECT COUNT(*) FROM pet"));
    }
    assertTrue(conflicts.isEmpty(), conflicts::toString);
  }

  private static List<String> names(GameQueue reader, String owner) {
    return reader.read(owner, Pet.class).stream().map(Pet::name).sorted().toList();
  }
}
