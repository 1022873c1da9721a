package io.gameq.writer;

import static io.gameq.servers.Waits.LONG;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.gameq.CommitReceipt;
import io.gameq.GameQueue;
import io.gameq.GameQueueException;
import io.gameq.OwnerSession;
import io.gameq.writer.service.WriterService;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/**
 * Redis loses a trade: it is replayed whole, also where one owner was opened again since, or given
 * up and told.
 */
@Execution(ExecutionMode.CONCURRENT)
class TradeHealingTest extends RedisLossFixture {
  @Test
  void halfOfATradeIsNotReplayedInSilence() throws Exception {
    try (GameQueue one = nodeBehindProxy("n1");
        GameQueue two = game.node("n2")) {
      OwnerSession giver = one.open("player:1");
      OwnerSession taker = one.open("player:2");
      queued(giver, new Pet(1, 1, "sword"));
      try (WriterService writer = game.writer("w1")) {
        assertEquals(Set.of(), one.drain(LONG));
      }
      RedisContents replica = RedisContents.of(redis, game.namespace);
      giver.move(new Pet(1, 2, "sword"), taker);
      one.commit(giver, taker).awaitQueued(LONG);
      cutOff();
      replica.restore();
      OwnerSession successor = two.open("player:1");
      assertEquals(List.of(new Pet(1, 1, "sword")), successor.rows(Pet.class));
      proxy.refuse(false);
      await()
          .atMost(LONG)
          .until(() -> conflicts.stream().anyMatch(c -> c.owner().equals("player:2")));
      assertEquals(List.of(), two.read("player:2", Pet.class));
      try (WriterService writer = game.writer("w2")) {
        one.drain(Duration.ofSeconds(25));
        CommitReceipt back = commit(successor, new Pet(1, 1, "my sword"));
        String outcome = "durable";
        try {
          back.awaitDurable(LONG);
        } catch (GameQueueException e) {
          outcome = String.valueOf(e.getMessage());
        }
        assertTrue(
            conflicts.stream().anyMatch(c -> c.rows().containsKey("pet:1"))
                || game.queryText("SELECT player_id FROM pet WHERE id = 1").equals("2"),
            "player 2 was given the sword durably, player 1 has it in MySQL, no conflict names it: "
                + outcome
                + " "
                + conflicts);
      }
    }
  }

  /** Returns what Redis held before the trade. */
  private RedisContents tradeSword(GameQueue queue, OwnerSession giver, OwnerSession taker) {
    queued(giver, new Pet(1, 1, "sword"));
    RedisContents before = RedisContents.of(redis, game.namespace);
    giver.move(new Pet(1, 2, "sword"), taker);
    giver.put(new Pet(2, 1, "paid"));
    queue.commit(giver, taker).awaitQueued(LONG);
    return before;
  }

  @Test
  void aTradeWhoseOtherHalfALaterSessionOfTheNodeAdoptedIsReplayedWhole() throws Exception {
    try (GameQueue one = nodeBehindProxy("n1");
        GameQueue two = game.node("n2")) {
      OwnerSession giver = one.open("player:1");
      OwnerSession taker = one.open("player:2");
      RedisContents replica = tradeSword(one, giver, taker);
      one.open("player:2");
      OwnerSession last = one.open("player:2");
      loseAllSince(replica);
      queued(last, new Pet(3, 2, "healed"));
      assertEquals(List.of(new Pet(2, 1, "paid")), two.read("player:1", Pet.class));
      assertEquals(
          Set.of(new Pet(1, 2, "sword"), new Pet(3, 2, "healed")),
          Set.copyOf(two.read("player:2", Pet.class)));
      try (WriterService writer = game.writer("w1")) {
        assertEquals(Set.of(), one.drain(LONG));
        assertEquals("2", game.queryText("SELECT player_id FROM pet WHERE id = 1"));
      }
      assertEquals(List.of(), List.copyOf(conflicts));
    }
  }

  @Test
  void aTradeWhoseOtherHalfASessionOfAnotherNodeAdoptedIsReplayedWhole() throws Exception {
    try (GameQueue one = nodeBehindProxy("n1");
        GameQueue two = nodeBehindProxy("n2")) {
      OwnerSession giver = one.open("player:1");
      OwnerSession taker = one.open("player:2");
      RedisContents replica = tradeSword(one, giver, taker);
      OwnerSession heir = two.open("player:2");
      loseAllSince(replica);
      queued(giver, new Pet(3, 1, "healed"));
      queued(heir, new Pet(4, 2, "healed"));
      assertEquals(
          Set.of(new Pet(2, 1, "paid"), new Pet(3, 1, "healed")),
          Set.copyOf(two.read("player:1", Pet.class)));
      assertEquals(
          Set.of(new Pet(1, 2, "sword"), new Pet(4, 2, "healed")),
          Set.copyOf(one.read("player:2", Pet.class)));
      try (WriterService writer = game.writer("w1")) {
        assertEquals(Set.of(), one.drain(LONG));
        assertEquals("2", game.queryText("SELECT player_id FROM pet WHERE id = 1"));
      }
      assertEquals(List.of(), List.copyOf(conflicts));
    }
  }

  @Test
  void aTradeWhoseOtherHalfWasAdoptedAndChangedSinceIsReplayedWhole() throws Exception {
    try (GameQueue one = nodeBehindProxy("n1");
        GameQueue two = nodeBehindProxy("n2")) {
      OwnerSession giver = one.open("player:1");
      OwnerSession taker = one.open("player:2");
      RedisContents replica = tradeSword(one, giver, taker);
      OwnerSession heir = two.open("player:2");
      queued(heir, new Pet(1, 2, "sharp sword"));
      loseAllSince(replica);
      queued(heir, new Pet(4, 2, "healed"));
      queued(giver, new Pet(3, 1, "healed"));
      assertEquals(
          Set.of(new Pet(2, 1, "paid"), new Pet(3, 1, "healed")),
          Set.copyOf(two.read("player:1", Pet.class)));
      try (WriterService writer = game.writer("w1")) {
        assertEquals(Set.of(), one.drain(LONG));
        assertEquals(Set.of(), two.drain(LONG));
        assertEquals(
            "2 sharp sword",
            game.queryText("SELECT CONCAT(player_id, ' ', name) FROM pet WHERE id = 1"));
      }
      assertEquals(List.of(), List.copyOf(conflicts));
    }
  }

  @Test
  void aRowOfATradeThatIsGivenUpIsWhatItWasBefore() throws Exception {
    try (GameQueue one = nodeBehindProxy("n1");
        GameQueue two = game.node("n2")) {
      OwnerSession giver = one.open("player:1");
      OwnerSession taker = one.open("player:2");
      RedisContents replica = RedisContents.of(redis, game.namespace);
      CommitReceipt before = commit(giver, new Pet(1, 1, "sword"));
      before.awaitQueued(LONG);
      giver.move(new Pet(1, 2, "sword"), taker);
      one.commit(giver, taker).awaitQueued(LONG);
      queued(giver, new Pet(3, 1, "later"));
      cutOff();
      replica.restore();
      two.open("player:2"); // without the sword: the trade is lost
      proxy.refuse(false);
      try (WriterService writer = game.writer("w1")) {
        before.awaitDurable(LONG);
        assertEquals("1", game.queryText("SELECT player_id FROM pet WHERE id = 1"));
        await()
            .atMost(LONG)
            .until(
                () ->
                    conflicts.stream()
                        .anyMatch(
                            c -> c.owner().equals("player:1") && c.rows().containsKey("pet:1")));
      }
    }
  }
}
