package io.gameq.writer;

import static io.gameq.servers.Waits.LONG;
import static io.gameq.writer.RefusingGame.commit;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.gameq.CommitReceipt;
import io.gameq.DeadLetterException;
import io.gameq.GameQueue;
import io.gameq.GameQueueException;
import io.gameq.OwnerSession;
import io.gameq.RowRefusedException;
import io.gameq.writer.RefusingGame.Chest;
import io.gameq.writer.RefusingGame.Pet;
import io.gameq.writer.RefusingGame.Toy;
import io.gameq.writer.service.WriterService;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** A table that takes no rows is parked until it is mended; rows of other tables go on. */
@Execution(ExecutionMode.CONCURRENT)
class RefusedTablesTest {
  @TempDir Path walDirectory;

  private Game game;

  @BeforeEach
  void start() throws Exception {
    game = new Game(RefusingGame.create("parked"), walDirectory);
  }

  @AfterEach
  void stop() {
    game.close();
  }

  @Test
  void aTableOfWhichMostRowsAreRefusedIsParkedInsteadOfSettingAllAside() throws Exception {
    try (WriterService writer = game.writer("w1");
        GameQueue queue = game.node("n1")) {
      List<CommitReceipt> receipts = new ArrayList<>();
      for (int player = 1; player <= 20; player++) {
        OwnerSession session = queue.open("player:" + player);
        for (int id = 1; id <= 30; id++) {
          session.put(new Pet(100 * player + id, player, 100));
        }
        receipts.add(commit(session, new Chest(player, player, "beside" + player)));
      }
      await().atMost(LONG).until(() -> game.queryText("SELECT COUNT(*) FROM chest").equals("20"));
      game.database.server().execute("ALTER TABLE pet DROP CONSTRAINT mortal");
      for (CommitReceipt receipt : receipts) {
        try {
          receipt.awaitDurable(LONG);
        } catch (DeadLetterException e) {
          // one of the first
        }
      }
      long setAside = writer.stats().deadLetters();
      assertTrue(setAside <= 200, () -> "set aside: " + setAside);
      assertEquals(Long.toString(600 - setAside), game.queryText("SELECT COUNT(*) FROM pet"));
    }
  }

  @Test
  void aMissingTableParksOnlyItsRowsUntilItIsBack() throws Exception {
    try (WriterService writer = game.writer("w1");
        GameQueue queue = game.node("n1")) {
      OwnerSession player = queue.open("player:1");
      commit(player, new Pet(1, 1, 5)).awaitDurable(LONG);
      game.database.server().execute("RENAME TABLE toy TO gone");
      CommitReceipt toy = commit(player, new Toy(1, 1, 1), new Pet(2, 1, 6));
      await().atMost(LONG).until(() -> game.queryText("SELECT COUNT(*) FROM pet").equals("2"));
      assertTrue(player.notDurable().contains("toy:1"));
      game.database.server().execute("RENAME TABLE gone TO toy");
      toy.awaitDurable(LONG);
      assertEquals("1", game.queryText("SELECT COUNT(*) FROM toy"));
      assertEquals("0", game.queryText("SELECT COUNT(*) FROM gameq_dead_letter"));
    }
  }

  @Test
  void aRenamedColumnParksOnlyItsTableUntilItIsBack() throws Exception {
    try (WriterService writer = game.writer("w1");
        GameQueue queue = game.node("n1")) {
      OwnerSession player = queue.open("player:1");
      game.database.server().execute("ALTER TABLE pet DROP CONSTRAINT mortal");
      game.database.server().execute("ALTER TABLE pet RENAME COLUMN age TO years");
      CommitReceipt pet = commit(player, new Pet(1, 1, 5));
      await().atMost(LONG).until(() -> writer.stats().flushes() > 0);
      assertEquals("0", game.queryText("SELECT COUNT(*) FROM pet"));
      game.database.server().execute("ALTER TABLE pet RENAME COLUMN years TO age");
      pet.awaitDurable(LONG);
      assertEquals("5", game.queryText("SELECT age FROM pet"));
    }
  }

  @Test
  void childrenOfAParkedTableWaitWithIt() throws Exception {
    try (WriterService writer = game.writer("w1");
        GameQueue queue = game.node("n1")) {
      OwnerSession player = queue.open("player:1");
      game.database.server().execute("ALTER TABLE pet DROP CONSTRAINT mortal");
      game.database.server().execute("ALTER TABLE pet RENAME COLUMN age TO years");
      CommitReceipt both = commit(player, new Pet(1, 1, 5), new Toy(1, 1, 1));
      commit(player, new Chest(1, 1, "a")).awaitDurable(LONG);
      await()
          .atMost(LONG)
          .until(
              () -> {
                commit(player, new Chest(1, 1, "b")).awaitDurable(LONG);
                return writer.stats().flushes() >= 6;
              });
      assertEquals("0", game.queryText("SELECT COUNT(*) FROM gameq_dead_letter"));
      game.database.server().execute("ALTER TABLE pet RENAME COLUMN years TO age");
      both.awaitDurable(LONG);
      assertEquals("1", game.queryText("SELECT COUNT(*) FROM toy"));
    }
  }

  @Test
  void anOwnerWithRowsOfAMissingTableCanBeOpened() throws Exception {
    try (WriterService writer = game.writer("w1");
        GameQueue first = game.node("n1");
        GameQueue second = game.node("n2")) {
      OwnerSession player = first.open("player:1");
      game.database.server().execute("RENAME TABLE toy TO gone");
      player.put("toy", Map.of("id", 1, "player_id", 1, "pet_id", 1));
      player.put("pet", Map.of("id", 1, "player_id", 1, "age", 5));
      player.commit().awaitQueued(LONG);
      OwnerSession again = second.open("player:1");
      assertEquals(1, again.rows(Pet.class).size());
      assertThrows(GameQueueException.class, () -> again.rows("toy"));
      assertThrows(GameQueueException.class, () -> second.read("player:1", "toy"));
      game.database.server().execute("RENAME TABLE gone TO toy");
      await()
          .atMost(LONG)
          .ignoreException(GameQueueException.class)
          .until(() -> second.read("player:1", "toy").size() == 1);
      assertThrows(GameQueueException.class, () -> again.rows("toy"));
      Map<String, Object> unknown = Map.of("id", 1, "player_id", 1, "pet_id", 2);
      assertThrows(RowRefusedException.class, () -> again.put("toy", unknown));
      assertThrows(RowRefusedException.class, () -> again.delete("toy", 1));
      assertEquals(1, second.open("player:1").rows("toy").size());
      await().atMost(LONG).until(() -> game.queryText("SELECT COUNT(*) FROM toy").equals("1"));
    }
  }

  @Test
  void anOutageWhileATableIsParkedIsNoFaultOfTheRows() throws Exception {
    AtomicBoolean down = new AtomicBoolean();
    try (WriterService writer = game.writer("w1", 1_000, down::get);
        GameQueue queue = game.node("n1")) {
      OwnerSession player = queue.open("player:1");
      game.database.server().execute("RENAME TABLE toy TO gone");
      CommitReceipt receipt = commit(player, new Toy(1, 1, 1), new Pet(1, 1, 5));
      await().atMost(LONG).until(() -> writer.stats().flushes() > 0);
      down.set(true);
      await().during(Duration.ofSeconds(8)).atMost(LONG).until(() -> writer.stats().reaped() == 0);
      down.set(false);
      game.database.server().execute("RENAME TABLE gone TO toy");
      receipt.awaitDurable(LONG);
      assertEquals("0", game.queryText("SELECT COUNT(*) FROM gameq_dead_letter"));
    }
  }
}
