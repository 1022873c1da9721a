package io.gameq.writer;

import static io.gameq.servers.Waits.LONG;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;

import io.gameq.CommitReceipt;
import io.gameq.GameQueue;
import io.gameq.OwnerSession;
import io.gameq.mysql.flush.FlushPlan;
import io.gameq.writer.service.WriterService;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** One half of a trade is in Redis, and Redis forgot in a failover who has the other one. */
@Execution(ExecutionMode.CONCURRENT)
class OtherHalvesTest extends RedisLossFixture {
  @BeforeEach
  void waitForHalves() {
    game.patience = new FlushPlan.Patience(3, 0, 600_000, 15, 100);
  }

  /**
   * A trade whose halves both wait in Redis; then the stalled node opens the taker, and adopts its
   * half, which Redis forgets; and the giver is opened again.
   */
  private CommitReceipt trade(GameQueue one, GameQueue stalled) {
    OwnerSession giver = one.open("player:1");
    OwnerSession taker = one.open("player:2");
    try (WriterService writer = game.writer("w0")) {
      giver.put(new Pet(1, 1, "sword"));
      giver.commit().awaitDurable(LONG);
    }
    giver.move(new Pet(1, 2, "sword"), taker);
    giver.put(new Pet(2, 1, "paid"));
    CommitReceipt traded = one.commit(giver, taker);
    traded.awaitQueued(LONG);
    RedisContents replica = RedisContents.of(redis, game.namespace);
    stalled.open("player:2");
    cutOff();
    replica.restore();
    one.open("player:1");
    return traded;
  }

  @Test
  void aHalfWaitsForThatOfANodeThatHasNotHealedAndItsOwnersOtherRowsAreWritten() throws Exception {
    try (GameQueue one = game.node("n1");
        GameQueue stalled = nodeBehindProxy("n2")) {
      CommitReceipt traded = trade(one, stalled);
      try (WriterService writer = game.writer("w1")) {
        await()
            .atMost(LONG)
            .until(() -> game.queryText("SELECT COUNT(*) FROM pet WHERE id = 2").equals("1"));
        assertEquals("1", game.queryText("SELECT player_id FROM pet WHERE id = 1"));
        assertEquals("0", game.queryText("SELECT COUNT(*) FROM gameq_dead_letter"));
        assertEquals(
            List.of(),
            one.read("player:1", Pet.class).stream().filter(pet -> pet.id() == 1).toList());
        proxy.refuse(false);
        traded.awaitDurable(LONG);
        assertEquals("2", game.queryText("SELECT player_id FROM pet WHERE id = 1"));
        assertEquals("0", game.queryText("SELECT COUNT(*) FROM gameq_dead_letter"));
      }
    }
  }

  @Test
  void aHalfWaitsNoLongerOnceTheOtherOwnerWasOpenedWithoutIts() throws Exception {
    try (GameQueue one = game.node("n1");
        GameQueue stalled = nodeBehindProxy("n2");
        GameQueue three = game.node("n3")) {
      trade(one, stalled);
      try (WriterService writer = game.writer("w1", 1_000)) { // sessions agree after a lease
        await().atMost(LONG).until(() -> writer.stats().stale() == 1); // the half in Redis
        three.open("player:2");
        await()
            .atMost(LONG)
            .until(() -> game.queryText("SELECT COUNT(*) FROM gameq_dead_letter").equals("1"));
        assertEquals("1", game.queryText("SELECT player_id FROM pet WHERE id = 1"));
        proxy.refuse(false); // or it takes long to close
      }
    }
  }
}
