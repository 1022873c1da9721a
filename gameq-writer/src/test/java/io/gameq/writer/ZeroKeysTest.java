package io.gameq.writer;

import static io.gameq.servers.Waits.LONG;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.gameq.GameQueue;
import io.gameq.OwnerSession;
import io.gameq.RowRefusedException;
import io.gameq.servers.GameDatabase;
import io.gameq.writer.service.WriterService;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** Keys that MySQL would invent a number for are kept as the game put them. */
@Execution(ExecutionMode.CONCURRENT)
class ZeroKeysTest {

  record Pet(long id, long playerId, String name) {}

  @TempDir Path walDirectory;

  private Game game;

  @BeforeEach
  void start() throws Exception {
    game =
        new Game(
            GameDatabase.create("zero")
                .table(
                    "pet",
                    "player",
                    "player_id",
                    "id BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY, player_id BIGINT NOT NULL, name"
                        + " VARCHAR(20) NOT NULL, KEY (player_id)")
                .table(
                    "letter",
                    "player",
                    "player_id",
                    "player_id BIGINT NOT NULL PRIMARY KEY, no INT NOT NULL AUTO_INCREMENT, text"
                        + " VARCHAR(20) NOT NULL, UNIQUE (no)"),
            walDirectory);
    game.database.server().execute("ALTER TABLE pet AUTO_INCREMENT = 8");
  }

  @AfterEach
  void stop() {
    game.close();
  }

  private static List<Pet> pets(OwnerSession player) {
    return player.rows(Pet.class).stream().sorted(Comparator.comparingLong(Pet::id)).toList();
  }

  @Test
  void zeroAndNegativeKeysAreFlushedReadBackAndDeletedAsTheyAre() throws Exception {
    try (WriterService writer = game.writer("w1");
        GameQueue queue = game.node("n1")) {
      OwnerSession player = queue.open("player:1");
      for (String name : List.of("a", "b", "c")) {
        for (long id : List.of(0L, -1L, Long.MIN_VALUE, 1L)) {
          player.put(new Pet(id, 1, name));
        }
        player.commit().awaitDurable(LONG);
      }
      assertEquals(
          "-9223372036854775808c,-1c,0c,1c",
          game.queryText("SELECT GROUP_CONCAT(id, name ORDER BY id) FROM pet"));
      player.close();
      player = queue.open("player:1");
      assertEquals(
          List.of(
              new Pet(Long.MIN_VALUE, 1, "c"),
              new Pet(-1, 1, "c"),
              new Pet(0, 1, "c"),
              new Pet(1, 1, "c")),
          pets(player));
      player.delete(Pet.class, 0);
      player.delete(Pet.class, -1);
      player.commit().awaitDurable(LONG);
      assertEquals("-9223372036854775808,1", game.queryText("SELECT GROUP_CONCAT(id) FROM pet"));
      assertEquals(0, writer.stats().deadLetters());
    }
  }

  @Test
  void aZeroInAnotherGeneratedColumnIsKeptToo() throws Exception {
    try (WriterService writer = game.writer("w1");
        GameQueue queue = game.node("n1")) {
      OwnerSession player = queue.open("player:1");
      for (String text : List.of("a", "b")) {
        player.put("letter", Map.of("player_id", 1, "no", 0, "text", text));
        player.commit().awaitDurable(LONG);
      }
      assertEquals("0b", game.queryText("SELECT GROUP_CONCAT(no, text) FROM letter"));
      assertEquals(0, writer.stats().deadLetters());
    }
  }

  @Test
  void aKeyThatMySqlShouldInventIsRefusedByTheNode() {
    try (GameQueue queue = game.node("n1")) {
      OwnerSession player = queue.open("player:1");
      RowRefusedException refused =
          assertThrows(
              RowRefusedException.class,
              () -> player.put("pet", Map.of("player_id", 1, "name", "a")));
      assertTrue(String.valueOf(refused.getMessage()).contains("pet.id"), refused::getMessage);
    }
  }
}
