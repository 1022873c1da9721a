package io.gameq.writer;

import static io.gameq.servers.Waits.LONG;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.gameq.GameQueue;
import io.gameq.OwnerSession;
import io.gameq.OwnershipLostException;
import io.gameq.servers.GameDatabase;
import io.gameq.terminal.ExitCodes;
import io.gameq.writer.service.WriterService;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** Rows that did not get to MySQL, from the game's commit to the operator's command. */
@Execution(ExecutionMode.CONCURRENT)
class KeptAsideTest {

  record Item(long playerId, int slot, int itemId, int count) {}

  @TempDir Path directory;

  private Game game;
  private ConfigFile config;

  @BeforeEach
  void start() throws Exception {
    GameDatabase database =
        GameDatabase.create("aside")
            .table(
                "item",
                "player",
                "player_id",
                "player_id BIGINT NOT NULL, slot INT NOT NULL, item_id INT NOT NULL, count INT NOT"
                    + " NULL, PRIMARY KEY (player_id, slot), CONSTRAINT few CHECK (count < 5000)");
    game = new Game(database, directory);
    config = ConfigFile.write(directory, database.server(), game.namespace, Game.SLOTS);
  }

  @AfterEach
  void stop() {
    game.close();
  }

  private CommandLineRun run(String command) {
    CommandLineRun run = config.run(command);
    System.out.println("$ gameq-writer " + command + "\n" + run.out() + run.err());
    return run;
  }

  @Test
  void aRowThatMySqlRefusedIsRetriedOnceItsTableIsMended() throws Exception {
    try (WriterService writer = game.writer("w1");
        GameQueue queue = game.node("n1")) {
      OwnerSession player = queue.open("player:42");
      player.put(new Item(42, 1, 1001, 5));
      player.commit().awaitDurable(LONG);
      player.put(new Item(42, 1, 1001, 6_000));
      player.put(new Item(42, 2, 1002, 1));
      player.commit().awaitQueued(LONG);
      await().atMost(LONG).until(() -> writer.stats().deadLetters() == 1);
      assertTrue(run("dead list").out().contains("1 dead letter"));
      assertTrue(run("dead show --values 1").out().contains("= 6000"));
      assertEquals(ExitCodes.FOUND_SOMETHING, run("dead retry --all").exitCode());
      game.database.server().execute("ALTER TABLE item DROP CONSTRAINT few");
      assertEquals(ExitCodes.OK, run("dead retry --all").exitCode());
      assertEquals("6000,1", game.queryText("SELECT GROUP_CONCAT(count ORDER BY slot) FROM item"));
    }
  }

  @Test
  void rowsOfALostSessionAreShownAndDiscarded() throws Exception {
    try (GameQueue first = game.node("n1");
        GameQueue second = game.node("n2");
        WriterService writer = game.writer("w1")) {
      OwnerSession old = first.open("player:5");
      second.open("player:5");
      old.put(new Item(5, 1, 1, 99));
      old.delete(Item.class, 5, 2);
      assertThrows(OwnershipLostException.class, () -> old.commit().awaitQueued(LONG));
      await().atMost(LONG).until(() -> writer.stats().stale() == 1);
      CommandLineRun listed = run("stale list");
      assertTrue(listed.out().contains("1 session with 2 stale rows"), listed.out());
      assertEquals(ExitCodes.FOUND_SOMETHING, listed.exitCode());
      assertTrue(run("stale list --json").out().startsWith("{\"owner\":\"player:5\",\"session\":"));
      String hidden = run("stale show player:5").out();
      assertTrue(hidden.contains("    count\n"), hidden);
      assertFalse(hidden.contains("= 99"), hidden);
      String shown = run("stale show --values player:5").out();
      assertTrue(shown.contains("item:5,1: put, version "), shown);
      assertTrue(shown.contains("    count = 99"), shown);
      assertTrue(shown.contains("item:5,2: delete, version "), shown);
      assertEquals(ExitCodes.COULD_NOT_RUN, run("stale discard player:5").exitCode());
      assertEquals(
          ExitCodes.FOUND_SOMETHING, run("stale discard --yes player:5 player:6").exitCode());
      CommandLineRun discarded = run("stale discard --yes player:5");
      assertEquals(ExitCodes.OK, discarded.exitCode());
      assertTrue(discarded.out().contains("2 stale rows discarded"), discarded.out());
      assertEquals(
          "item:1,item:2",
          game.queryText(
              "SELECT GROUP_CONCAT(table_name, ':', SUBSTRING_INDEX(row_key, ',', -1) ORDER BY"
                  + " row_key) FROM gameq_discard WHERE session LIKE '%1-%'"));
      CommandLineRun none = run("stale list");
      assertEquals("0 sessions with 0 stale rows\n", none.out());
      assertEquals(ExitCodes.OK, none.exitCode());
      assertEquals(ExitCodes.FOUND_SOMETHING, run("stale show player:5").exitCode());
      CommandLineRun nothing = run("stale discard --all");
      assertEquals("0 stale rows discarded\n", nothing.out(), nothing::toString);
      assertEquals(
          "stale show player:5 with values,stale discard player:5 1 session",
          game.queryText(
              "SELECT GROUP_CONCAT(CONCAT_WS(' ', action, target, detail) ORDER BY id) FROM"
                  + " gameq_audit"));
    }
  }
}
