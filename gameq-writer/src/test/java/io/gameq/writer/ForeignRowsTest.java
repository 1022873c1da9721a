package io.gameq.writer;

import static io.gameq.servers.Waits.LONG;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.gameq.DeadLetterException;
import io.gameq.GameQueue;
import io.gameq.OwnerSession;
import io.gameq.servers.GameDatabase;
import io.gameq.writer.service.WriterService;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** A row whose key does not name its owner changes hands by a move alone. */
@Execution(ExecutionMode.CONCURRENT)
class ForeignRowsTest {

  record Item(long id, long playerId, int count) {}

  @TempDir Path walDirectory;

  private Game game;

  @BeforeEach
  void start() throws Exception {
    game =
        new Game(
            GameDatabase.create("foreign")
                .table(
                    "item",
                    "player",
                    "player_id",
                    "id BIGINT NOT NULL PRIMARY KEY, player_id BIGINT NOT NULL, count INT NOT NULL,"
                        + " KEY (player_id)"),
            walDirectory);
  }

  @AfterEach
  void stop() {
    game.close();
  }

  private String items() throws Exception {
    return game.queryText(
        "SELECT GROUP_CONCAT(CONCAT_WS(' ', id, player_id, count) ORDER BY id) FROM item");
  }

  @Test
  void aPutOfAnotherOwnersRowIsRefusedByNameAndTheRowStays() throws Exception {
    try (WriterService writer = game.writer("w1");
        GameQueue queue = game.node("n1")) {
      OwnerSession owner = queue.open("player:2");
      owner.put(new Item(7, 2, 70));
      owner.commit().awaitDurable(LONG);
      OwnerSession thief = queue.open("player:1");
      thief.put(new Item(7, 1, 1));
      thief.put(new Item(8, 1, 80));
      DeadLetterException refused =
          assertThrows(DeadLetterException.class, () -> thief.commit().awaitDurable(LONG));
      assertEquals(List.of("item:7"), refused.keys());
      assertEquals("7 2 70,8 1 80", items());
      assertEquals(1, writer.stats().deadLetters());
      OwnerSession again = queue.open("player:1");
      assertEquals(1, again.deadLetters().size());
      assertEquals(List.of(new Item(8, 1, 80)), again.rows(Item.class));
      assertEquals(List.of(), queue.open("player:2").deadLetters());
    }
  }

  @Test
  void aDeleteOfAnotherOwnersRowIsRefusedByNameAndTheRowStays() throws Exception {
    try (WriterService writer = game.writer("w1");
        GameQueue queue = game.node("n1")) {
      OwnerSession owner = queue.open("player:2");
      owner.put(new Item(7, 2, 70));
      owner.commit().awaitDurable(LONG);
      OwnerSession thief = queue.open("player:1");
      thief.delete(Item.class, 7);
      DeadLetterException refused =
          assertThrows(DeadLetterException.class, () -> thief.commit().awaitDurable(LONG));
      assertEquals(List.of("item:7"), refused.keys());
      assertEquals("7 2 70", items());
      assertEquals("0", game.queryText("SELECT COUNT(*) FROM gameq_tombstone"));
      owner.put(new Item(7, 2, 71));
      owner.commit().awaitDurable(LONG);
      assertEquals("7 2 71", items());
      assertEquals(1, writer.stats().deadLetters());
    }
  }

  @Test
  void readersShowARowToItsOwnerAloneWhileAForeignPutWaits() throws Exception {
    try (GameQueue queue = game.node("n1")) {
      try (WriterService writer = game.writer("w1")) {
        OwnerSession owner = queue.open("player:2");
        owner.put(new Item(7, 2, 70));
        owner.commit().awaitDurable(LONG);
      }
      OwnerSession thief = queue.open("player:1");
      thief.put(new Item(7, 1, 1));
      thief.commit().awaitQueued(LONG);
      assertEquals(List.of(), queue.read("player:1", Item.class));
      assertEquals(List.of(new Item(7, 2, 70)), queue.read("player:2", Item.class));
      assertEquals(List.of(), queue.open("player:1").rows(Item.class));
    }
  }

  @Test
  void aRowPassesThroughManyHandsBeforeAnythingIsFlushed() throws Exception {
    try (GameQueue queue = game.node("n1")) {
      OwnerSession a = queue.open("player:1");
      OwnerSession b = queue.open("player:2");
      OwnerSession c = queue.open("player:3");
      try (WriterService writer = game.writer("w1")) {
        a.put(new Item(7, 1, 1));
        a.commit().awaitDurable(LONG);
      }
      a.move(new Item(7, 2, 2), b);
      queue.commit(a, b).awaitQueued(LONG);
      b.put(new Item(7, 2, 3));
      b.commit().awaitQueued(LONG);
      b.move(new Item(7, 3, 4), c);
      queue.commit(b, c).awaitQueued(LONG);
      c.put(new Item(7, 3, 5));
      c.commit().awaitQueued(LONG);
      try (WriterService writer = game.writer("w1")) {
        assertEquals(Set.of(), queue.drain(LONG));
        assertEquals(0, writer.stats().deadLetters());
      }
      assertEquals("7 3 5", items());
      assertEquals(List.of(new Item(7, 3, 5)), queue.read("player:3", Item.class));
      assertEquals(List.of(), queue.read("player:1", Item.class));
    }
  }

  @Test
  void aRowThatIsGivenBackAndDeletedAsksNobody() throws Exception {
    try (GameQueue queue = game.node("n1")) {
      OwnerSession a = queue.open("player:1");
      OwnerSession b = queue.open("player:2");
      try (WriterService writer = game.writer("w1")) {
        a.put(new Item(7, 1, 1));
        a.put(new Item(8, 1, 1));
        a.commit().awaitDurable(LONG);
      }
      a.move(new Item(7, 2, 2), b);
      a.move(new Item(8, 2, 2), b);
      queue.commit(a, b).awaitQueued(LONG);
      b.move(new Item(7, 1, 3), a);
      b.delete(Item.class, 8);
      queue.commit(a, b).awaitQueued(LONG);
      try (WriterService writer = game.writer("w1")) {
        assertEquals(Set.of(), queue.drain(LONG));
        assertEquals(0, writer.stats().deadLetters());
      }
      assertEquals("7 1 3", items());
    }
  }

  @Test
  void aTradeWhoseOwnersAreBothOpenedAgainBeforeAnythingIsFlushedIsKept() throws Exception {
    try (GameQueue first = game.node("n1");
        GameQueue second = game.node("n2")) {
      OwnerSession a = first.open("player:1");
      OwnerSession b = first.open("player:2");
      try (WriterService writer = game.writer("w1")) {
        a.put(new Item(7, 1, 1));
        a.commit().awaitDurable(LONG);
      }
      a.move(new Item(7, 2, 2), b);
      first.commit(a, b).awaitQueued(LONG);
      OwnerSession againA = second.open("player:1");
      OwnerSession againB = second.open("player:2");
      assertEquals(List.of(), againA.rows(Item.class));
      assertEquals(List.of(new Item(7, 2, 2)), againB.rows(Item.class));
      againB.put(new Item(7, 2, 3));
      againB.commit().awaitQueued(LONG);
      try (WriterService writer = game.writer("w1")) {
        assertEquals(Set.of(), second.drain(LONG));
        assertEquals(0, writer.stats().deadLetters());
      }
      assertEquals("7 2 3", items());
    }
  }
}
