package io.gameq.writer;

import static io.gameq.servers.Waits.LONG;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.gameq.ClosedException;
import io.gameq.CommitReceipt;
import io.gameq.GameQueue;
import io.gameq.GameQueueException;
import io.gameq.OwnerSession;
import io.gameq.OwnershipLostException;
import io.gameq.RowRefusedException;
import io.gameq.servers.GameDatabase;
import io.gameq.writer.service.WriterService;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.UUID;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

@Execution(ExecutionMode.CONCURRENT)
class WholePathTest {

  record Item(long playerId, int slot, int itemId, int count) {}

  record Pet(long id, long playerId, String name) {}

  record Banner(UUID guildId, int slot, int color) {}

  record Herald(int id, UUID guildId) {}

  @TempDir Path walDirectory;

  private Game game;

  @BeforeEach
  void start() throws Exception {
    GameDatabase database =
        GameDatabase.create("path")
            .table(
                "item",
                "player",
                "player_id",
                "player_id BIGINT NOT NULL, slot INT NOT NULL, item_id INT NOT NULL, count INT NOT"
                    + " NULL, PRIMARY KEY (player_id, slot)")
            .table(
                "pet",
                "player",
                "player_id",
                "id BIGINT NOT NULL PRIMARY KEY, player_id BIGINT NOT NULL, name VARCHAR(20) NOT"
                    + " NULL, KEY (player_id)")
            .table(
                "banner",
                "guild",
                "guild_id",
                "guild_id BINARY(16) NOT NULL, slot INT NOT NULL, color INT NOT NULL, PRIMARY KEY"
                    + " (guild_id, slot)")
            .table(
                "herald",
                "guild",
                "guild_id",
                "id INT NOT NULL PRIMARY KEY, guild_id BINARY(16) NOT NULL, KEY (guild_id)");
    game = new Game(database, walDirectory);
  }

  @AfterEach
  void stop() {
    game.close();
  }

  @Test
  void committedRowsReachMySqlAndAreReadBack() throws Exception {
    try (WriterService writer = game.writer("w1");
        GameQueue queue = game.node("n1")) {
      OwnerSession player = queue.open("player:42");
      player.put(new Item(42, 1, 1001, 5));
      player.put(new Item(42, 2, 1002, 1));
      player.commit().awaitQueued(LONG);
      assertEquals(
          List.of(new Item(42, 1, 1001, 5), new Item(42, 2, 1002, 1)),
          sorted(queue.read("player:42", Item.class)));
      player.put(new Item(42, 1, 1001, 6));
      player.delete(Item.class, 42, 2);
      player.commit();
      assertEquals(Set.of(), player.awaitDurable(LONG));
      assertEquals("6", game.queryText("SELECT GROUP_CONCAT(count) FROM item"));
      player.close();
      try (OwnerSession again = queue.open("player:42")) {
        assertEquals(List.of(new Item(42, 1, 1001, 6)), again.rows(Item.class));
      }
      assertTrue(writer.stats().rows() > 0);
    }
  }

  @Test
  void aUuidInSixteenBytesNamesAnOwnerInOneSpelling() throws Exception {
    UUID guild = UUID.fromString("0e6a3a54-9a8f-4e43-8d5c-00a1b2c3d4e0");
    UUID other = UUID.fromString("0e6a3a54-9a8f-4e43-8d5c-00a1b2c3d4e1");
    try (WriterService writer = game.writer("w1");
        GameQueue queue = game.node("n1")) {
      OwnerSession one = queue.open("guild:" + guild);
      OwnerSession two = queue.open("guild:" + other);
      one.put(new Banner(guild, 1, 5));
      one.put(new Banner(guild, 2, 6));
      one.put(new Herald(7, guild));
      one.commit().awaitQueued(LONG);
      one.delete(Banner.class, guild, 2);
      one.move(new Herald(7, other), two);
      queue.commit(one, two);
      assertThrows(RowRefusedException.class, () -> one.delete(Banner.class, other, 1));
      assertEquals(Set.of(), queue.drain(LONG));
      assertEquals(
          "0E6A3A549A8F4E438D5C00A1B2C3D4E0",
          game.queryText("SELECT HEX(guild_id) FROM banner WHERE slot = 1"));
      assertEquals(List.of(new Banner(guild, 1, 5)), queue.read("guild:" + guild, Banner.class));
      assertEquals(List.of(new Herald(7, other)), queue.open("guild:" + other).rows(Herald.class));
      assertTrue(writer.stats().rows() > 0);
      for (String spelling :
          List.of(
              guild.toString().toUpperCase(Locale.ROOT),
              guild.toString().replace("-", ""),
              "e6a3a54-9a8f-4e43-8d5c-a1b2c3d4e0")) {
        String message =
            assertThrows(GameQueueException.class, () -> queue.open("guild:" + spelling))
                .getMessage();
        assertTrue(message.contains("write the key as a UUID, in lower case"), message);
      }
    }
  }

  @Test
  void aStopHasTheGameCloseItsSessionsAndSaysWhatIsLeft() throws Exception {
    GameQueue queue = game.node("n1");
    OwnerSession leaving = queue.open("player:1");
    leaving.askedToClose().thenRun(leaving::close);
    leaving.put(new Item(1, 1, 1001, 5));
    OwnerSession staying = queue.open("player:2");
    staying.put(new Item(2, 1, 1001, 5));
    staying.commit();
    queue.topic("work", Pet.class).subscribe(delivery -> {});
    try (WriterService writer = game.writer("w1")) {
      assertEquals(new GameQueue.Stopped(Set.of("player:2"), Set.of()), queue.stop(LONG));
      assertTrue(writer.stats().rows() > 0);
    }
    assertEquals("1,2", game.queryText("SELECT GROUP_CONCAT(player_id ORDER BY 1) FROM item"));
    assertThrows(ClosedException.class, () -> queue.open("player:1"));
  }

  @Test
  void aStopWithoutAWriterNamesTheRowsThatAreInTheWalAlone() {
    GameQueue queue = game.node("n1");
    OwnerSession player = queue.open("player:1");
    player.askedToClose().thenRun(player::close);
    player.put(new Item(1, 1, 1001, 5));
    assertEquals(
        new GameQueue.Stopped(Set.of(), Set.of("item:1,1")), queue.stop(Duration.ofSeconds(1)));
  }

  @Test
  void aTradedRowIsSeenOnceAndKeepsItsKey() throws Exception {
    try (WriterService writer = game.writer("w1");
        GameQueue queue = game.node("n1")) {
      OwnerSession a = queue.open("player:1");
      OwnerSession b = queue.open("player:2");
      a.put(new Pet(7, 1, "Rex"));
      a.commit().awaitDurable(LONG);
      a.move(new Pet(7, 2, "Rex"), b);
      CommitReceipt trade = queue.commit(a, b);
      trade.awaitQueued(LONG);
      assertEquals(List.of(), queue.read("player:1", Pet.class));
      assertEquals(List.of(new Pet(7, 2, "Rex")), queue.read("player:2", Pet.class));
      trade.awaitDurable(LONG);
      assertEquals(Set.of(), queue.drain(LONG));
      assertEquals(List.of(), queue.read("player:1", Pet.class));
      assertEquals(List.of(new Pet(7, 2, "Rex")), queue.read("player:2", Pet.class));
    }
  }

  @Test
  void anotherNodeTakesOverWithUnflushedRows() throws Exception {
    try (GameQueue first = game.node("n1");
        GameQueue second = game.node("n2")) {
      OwnerSession old = first.open("player:5");
      old.put(new Item(5, 1, 1, 1));
      old.commit().awaitQueued(LONG);
      OwnerSession successor = second.open("player:5");
      assertEquals(List.of(new Item(5, 1, 1, 1)), successor.rows(Item.class));
      old.put(new Item(5, 1, 1, 99));
      assertThrows(OwnershipLostException.class, () -> old.commit().awaitQueued(LONG));
      successor.put(new Item(5, 2, 2, 2));
      successor.commit().awaitQueued(LONG);
      try (WriterService writer = game.writer("w1")) {
        assertEquals(Set.of(), successor.awaitDurable(LONG));
      }
      assertEquals("1,2", game.queryText("SELECT GROUP_CONCAT(count ORDER BY slot) FROM item"));
    }
  }

  private static List<Item> sorted(List<Item> items) {
    return items.stream().sorted(java.util.Comparator.comparing(Item::slot)).toList();
  }
}
