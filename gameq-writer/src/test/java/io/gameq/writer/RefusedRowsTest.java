package io.gameq.writer;

import static io.gameq.servers.Waits.LONG;
import static io.gameq.writer.RefusingGame.commit;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.gameq.CommitReceipt;
import io.gameq.DeadLetterException;
import io.gameq.GameQueue;
import io.gameq.OwnerSession;
import io.gameq.mysql.flush.FlushPlan;
import io.gameq.owner.OwnerId;
import io.gameq.redis.ControlConnection;
import io.gameq.redis.RedisConnector;
import io.gameq.redis.RedisConnector.RedisConfig;
import io.gameq.redis.SlotKeys;
import io.gameq.redis.script.ClaimScript;
import io.gameq.servers.TestServers;
import io.gameq.topic.DeadLetter;
import io.gameq.writer.RefusingGame.Chest;
import io.gameq.writer.RefusingGame.Gem;
import io.gameq.writer.RefusingGame.Item;
import io.gameq.writer.RefusingGame.Pet;
import io.gameq.writer.RefusingGame.Toy;
import io.gameq.writer.service.WriterService;
import io.lettuce.core.api.sync.RedisCommands;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** Rows that MySQL refuses are set aside and reported; everything else goes on. */
@Execution(ExecutionMode.CONCURRENT)
class RefusedRowsTest {
  @TempDir Path walDirectory;

  private final RedisCommands<String, String> redis = TestServers.redis().sync();
  private Game game;

  @BeforeEach
  void start() throws Exception {
    game = new Game(RefusingGame.createWithItems("refused"), walDirectory);
  }

  @AfterEach
  void stop() {
    game.close();
  }

  @Test
  void aRefusedRowIsReportedByNameAndTheRestIsDurable() throws Exception {
    try (WriterService writer = game.writer("w1");
        GameQueue queue = game.node("n1")) {
      OwnerSession player = queue.open("player:1");
      CommitReceipt receipt = commit(player, new Pet(1, 1, 5), new Pet(2, 1, 100));
      DeadLetterException refused =
          assertThrows(DeadLetterException.class, () -> receipt.awaitDurable(LONG));
      assertEquals(List.of("pet:2"), refused.keys());
      assertEquals("1", game.queryText("SELECT GROUP_CONCAT(id) FROM pet"));
      assertEquals(Set.of(), player.awaitDurable(LONG));

      player = queue.open("player:1");
      DeadLetter letter = player.deadLetters().get(0);
      assertEquals("pet:2", letter.key());
      assertEquals(100L, letter.row() == null ? null : letter.row().get("age"));
      assertTrue(letter.error().contains("mortal"), letter::error);
      assertEquals(1, player.rows(Pet.class).size());

      commit(player, new Pet(2, 1, 99)).awaitDurable(LONG);
      assertEquals("99", game.queryText("SELECT age FROM pet WHERE id = 2"));
      assertEquals(List.of(), queue.open("player:1").deadLetters(), "a newer version passed");
      assertEquals(1, writer.stats().deadLetters());
    }
  }

  @Test
  void anotherNodeLearnsOfARefusedRowWithoutANotice() throws Exception {
    try (GameQueue queue = game.node("n1")) {
      OwnerSession player = queue.open("player:1");
      CommitReceipt receipt = commit(player, new Pet(2, 1, 100));
      receipt.awaitQueued(LONG);
      try (GameQueue second = game.node("n2");
          WriterService writer = game.writer("w1")) {
        second.open("player:1");
        assertThrows(DeadLetterException.class, () -> receipt.awaitDurable(LONG));
      }
    }
  }

  @Test
  void aRefusedDeleteIsReportedAndTheRowStays() throws Exception {
    try (WriterService writer = game.writer("w1");
        GameQueue queue = game.node("n1")) {
      OwnerSession player = queue.open("player:1");
      OwnerSession friend = queue.open("player:2");
      commit(player, new Pet(1, 1, 5)).awaitDurable(LONG);
      commit(friend, new Toy(1, 2, 1)).awaitDurable(LONG);
      player.delete(Pet.class, 1);
      CommitReceipt receipt = player.commit();
      assertThrows(DeadLetterException.class, () -> receipt.awaitDurable(LONG));
      DeadLetter letter = queue.open("player:1").deadLetters().get(0);
      assertTrue(letter.delete());
      assertNull(letter.row());
      assertEquals(1451, letter.errorCode());
      assertEquals(1, queue.read("player:1", Pet.class).size());
    }
  }

  @Test
  void aRowThatAnotherOwnersFlushMakesFitIsNotSetAside() throws Exception {
    try (WriterService writer = game.writer("w1");
        GameQueue queue = game.node("n1")) {
      OwnerSession player = queue.open("player:1");
      OwnerSession friend = queue.open("player:2");
      CommitReceipt toy = commit(friend, new Toy(1, 2, 1));
      await().atMost(LONG).until(() -> writer.stats().givenBack() > 0);
      commit(player, new Pet(1, 1, 5)).awaitDurable(LONG);
      toy.awaitDurable(LONG);
      assertEquals("0", game.queryText("SELECT COUNT(*) FROM gameq_dead_letter"));
    }
  }

  @Test
  void aDamagedRowIsSetAsideAndItsOwnerGoesOn() throws Exception {
    try (GameQueue queue = game.node("n1")) {
      OwnerSession player = queue.open("player:1");
      commit(player, new Pet(1, 1, 5)).awaitQueued(LONG);
      String dirty = redis.keys("{" + game.namespace + ":*:dirty:*").get(0);
      redis.hset(dirty, "pet:9", "00000000000000ffpgarbage");
      redis.hset(dirty, "no%zz:1", "x");
      redis.hset(dirty, "no table", "y");
      redis.hset(dirty, "pet:8", "z");
      assertEquals(1, queue.open("player:1").rows(Pet.class).size(), "the owner can be opened");
      try (WriterService writer = game.writer("w1")) {
        await().atMost(LONG).until(() -> game.queryText("SELECT COUNT(*) FROM pet").equals("1"));
        await().atMost(LONG).until(() -> redis.keys("{" + game.namespace + ":*:dirty:*").isEmpty());
        assertEquals(
            "?:1,?:no table,pet:8,pet:9",
            game.queryText(
                "SELECT GROUP_CONCAT(table_name, ':', row_key ORDER BY table_name, row_key) FROM"
                    + " gameq_dead_letter"));
      }
    }
  }

  @Test
  void rowsThatKeepKillingTheirWritersAreSetAside() throws Exception {
    try (GameQueue queue = game.node("n1");
        RedisConnector connector = new RedisConnector(new RedisConfig(TestServers.redisUri()));
        ControlConnection connection = new ControlConnection(connector)) {
      OwnerSession player = queue.open("player:1");
      CommitReceipt receipt = commit(player, new Pet(1, 1, 5), new Pet(2, 1, 6));
      receipt.awaitQueued(LONG);
      SlotKeys slot = new SlotKeys(game.namespace, OwnerId.of("player:1").slot(Game.SLOTS));
      ClaimScript dying = new ClaimScript("dying", new ClaimScript.Bounds(9, 99, 9_999, 1));
      for (int lapses = 1; lapses <= 5; lapses++) {
        await().atMost(LONG).until(() -> !dying.call(connection.get(), slot).claims().isEmpty());
        await().atMost(LONG).until(() -> !ClaimScript.reap(connection.get(), slot).isEmpty());
      }
      try (WriterService writer = game.writer("w1")) {
        DeadLetterException refused =
            assertThrows(DeadLetterException.class, () -> receipt.awaitDurable(LONG));
        assertEquals(2, refused.keys().size());
        assertEquals(
            "2 0",
            game.queryText("SELECT CONCAT(COUNT(*), ' ', MAX(error_code)) FROM gameq_dead_letter"));
        assertEquals(2, queue.open("player:1").deadLetters().size());
        commit(queue.open("player:1"), new Pet(1, 1, 7)).awaitDurable(LONG);
      }
      assertEquals(Map.of(), redis.hgetall("{" + game.namespace + ":" + slot.slot() + "}:claim"));
    }
  }

  @Test
  void aUniqueValueGivenUpByADeleteThatCascadesTakesNoOtherRowsAlong() throws Exception {
    try (WriterService writer = game.writer("w1");
        GameQueue queue = game.node("n1")) {
      OwnerSession player = queue.open("player:1");
      commit(player, new Chest(1, 1, "a"), new Item(7, 1, 1), new Gem(70, 1, 7)).awaitDurable(LONG);
      player.delete(Chest.class, 1);
      CommitReceipt receipt = commit(player, new Chest(2, 1, "a"), new Item(7, 1, 2));
      assertThrows(DeadLetterException.class, () -> receipt.awaitDurable(LONG));
      assertEquals(
          "1 1",
          game.queryText(
              "SELECT CONCAT((SELECT COUNT(*) FROM item), ' ', (SELECT COUNT(*) FROM gem))"));
      assertEquals(3, queue.open("player:1").deadLetters().size(), "everything is reported");
    }
  }

  @Test
  void childrenThatCanMoveAwayInTimeAreNotTakenAlong() throws Exception {
    try (WriterService writer = game.writer("w1");
        GameQueue queue = game.node("n1")) {
      OwnerSession player = queue.open("player:1");
      commit(player, new Chest(1, 1, "a"), new Item(7, 1, 1), new Gem(70, 1, 7)).awaitDurable(LONG);
      player.delete(Chest.class, 1);
      commit(player, new Chest(2, 1, "b"), new Item(7, 1, 2)).awaitDurable(LONG);
      assertEquals(
          "1 1 2",
          game.queryText(
              "SELECT CONCAT((SELECT COUNT(*) FROM item), ' ', (SELECT COUNT(*) FROM gem), ' ',"
                  + " (SELECT chest_id FROM item))"));
    }
  }

  @Test
  void aBusyOwnerIsAsPatientAsAnIdleOne() throws Exception {
    game.patience = new FlushPlan.Patience(3, 60_000, 0, 15, 100);
    try (WriterService writer = game.writer("w1");
        GameQueue queue = game.node("n1")) {
      OwnerSession player = queue.open("player:1");
      OwnerSession friend = queue.open("player:2");
      CommitReceipt toy = commit(friend, new Toy(1, 2, 1));
      for (int age = 0; writer.stats().givenBack() < 8; age = (age + 1) % 90) {
        commit(friend, new Pet(50, 2, age)).awaitQueued(LONG);
        friend.awaitDurable(Duration.ofMillis(20)); // pulls the next attempt forward
      }
      commit(player, new Pet(1, 1, 5)).awaitDurable(LONG);
      assertEquals(Set.of(), friend.awaitDurable(LONG));
      toy.awaitDurable(LONG);
      assertEquals("0", game.queryText("SELECT COUNT(*) FROM gameq_dead_letter"));
    }
  }

  @Test
  void aDeadLetterIsOverOnceTheRowWasDeletedOrMoved() {
    try (WriterService writer = game.writer("w1");
        GameQueue queue = game.node("n1")) {
      OwnerSession player = queue.open("player:1");
      CommitReceipt refused = commit(player, new Pet(2, 1, 100));
      assertThrows(DeadLetterException.class, () -> refused.awaitDurable(LONG));
      player.delete(Pet.class, 2);
      CommitReceipt deleted = player.commit();
      deleted.awaitQueued(LONG);
      assertEquals(List.of(), queue.open("player:1").deadLetters(), "while the delete waits");
      assertEquals(Set.of(), queue.drain(LONG));
      assertEquals(List.of(), queue.open("player:1").deadLetters(), "once it is in MySQL");
    }
  }
}
