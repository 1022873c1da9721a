package io.gameq.recovery;

import static io.gameq.servers.Waits.LONG;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.gameq.GameQueue;
import io.gameq.GameQueueException;
import io.gameq.OwnerSession;
import io.gameq.config.EarlierWals;
import io.gameq.recovery.RecoveryGame.Item;
import io.gameq.recovery.RecoveryGame.Pet;
import io.gameq.recovery.RecoveryGame.Run;
import io.gameq.servers.TestServers;
import io.gameq.terminal.ExitCodes;
import io.gameq.wal.WalDirectory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** A node that starts beside an incomplete WAL of its own, after Redis lost what it holds. */
@Execution(ExecutionMode.CONCURRENT)
class NodeRestartTest extends RecoveryFixture {
  private static void put(GameQueue queue, int player, int count) {
    OwnerSession session = queue.open("player:" + player);
    session.put(new Item(player, 1, 1_001, count));
    session.commit().awaitQueued(LONG);
  }

  private void playAndLoseRedis() {
    try (GameQueue queue = game.node("n1")) {
      put(queue, 1, 5);
      put(queue, 2, 5);
    }
    game.loseRedis();
  }

  private static List<Item> login(GameQueue queue, int player) {
    return queue.open("player:" + player).rows(Item.class);
  }

  @Test
  void whatRedisLostIsBackBeforeTheFirstPlayerLogsIn() {
    playAndLoseRedis();
    try (GameQueue queue = game.node("n1")) {
      assertEquals(List.of(new Item(1, 1, 1_001, 5)), login(queue, 1));
      put(queue, 1, 6);
    }
    Run plan = game.run("plan");
    assertEquals(ExitCodes.OK, plan.exitCode(), plan::toString);
    assertTrue(plan.says("2  in Redis"), plan::toString);
    game.loseRedis();
    try (GameQueue queue = game.node("n1")) { // from two WALs now, in the order of their starts
      assertEquals(List.of(new Item(1, 1, 1_001, 6)), login(queue, 1));
      assertEquals(List.of(new Item(2, 1, 1_001, 5)), login(queue, 2));
    }
  }

  @Test
  void aWalOfWhichMySqlHasEverythingIsCompleteAndALaterStartRemovesIt() {
    playAndLoseRedis();
    Path left = WalDirectory.left(game.wal, "n1").get(0);
    game.node("n1").close(); // puts it back into Redis alone
    assertFalse(WalDirectory.isComplete(left));
    game.run("replay --execute --into mysql --no-redis");
    game.node("n1").close();
    assertTrue(WalDirectory.isComplete(left));
    GameQueue.open(game.config("n1").walKeep(Duration.ZERO).build()).close();
    assertFalse(Files.exists(left));
  }

  @Test
  void whatALaterSessionOpenedWithoutIsLeftToTheTool() {
    playAndLoseRedis();
    try (GameQueue other = game.node("n2")) {
      assertEquals(List.of(), login(other, 1));
    }
    try (GameQueue queue = game.node("n1")) {
      assertEquals(List.of(), login(queue, 1));
      assertEquals(List.of(new Item(2, 1, 1_001, 5)), login(queue, 2));
    }
    Run plan = game.run("plan");
    assertTrue(plan.says("1  CONFLICTS"), plan::toString);
    assertTrue(plan.says("0  LOST"), plan::toString);
  }

  @Test
  void aTradeOfWhichAnotherNodeTookOneOwnerOverIsReplayedWhole() {
    try (GameQueue heirs = game.node("n2")) {
      try (GameQueue queue = game.node("n1")) {
        OwnerSession giver = queue.open("player:1");
        OwnerSession taker = queue.open("player:2");
        giver.put(new Pet(1, 1, "sword"));
        giver.commit().awaitQueued(LONG);
        giver.move(new Pet(1, 2, "sword"), taker);
        giver.put(new Pet(2, 1, "paid"));
        queue.commit(giver, taker).awaitQueued(LONG);
        heirs.open("player:2");
      }
      game.loseRedis();
      try (GameQueue queue = game.node("n1")) {
        assertEquals(
            List.of(new Pet(2, 1, "paid")), queue.open("player:1").rows(Pet.class)); // no sword
      }
    }
  }

  /** As when MySQL failed over to a replica that lacks the flush: Redis had everything. */
  @Test
  void whatNeitherServerHoldsIsPutBackThoughTheMarkProvesThatRedisHadIt() {
    try (GameQueue queue = game.node("n1")) {
      put(queue, 1, 5);
    }
    for (String kind : List.of(":dirty:*", ":due", ":ready")) {
      game.keys(kind).forEach(this::remove);
    }
    assertEquals(RecoveryGame.SLOTS, game.keys(":journal").size());
    try (GameQueue queue = game.node("n1")) {
      assertEquals(List.of(new Item(1, 1, 1_001, 5)), login(queue, 1));
    }
  }

  @Test
  void halfATradeWhoseOtherHalfIsLostIsReplayedByNobody() {
    try (GameQueue queue = game.node("n1")) {
      OwnerSession giver = queue.open("player:1");
      OwnerSession taker = queue.open("player:2");
      giver.put(new Item(1, 1, 1_001, 0));
      taker.put(new Item(2, 1, 1_001, 1));
      queue.commit(giver, taker).awaitQueued(LONG);
    }
    game.loseRedis();
    try (GameQueue heirs = game.node("n2")) {
      assertEquals(List.of(), login(heirs, 2));
      try (GameQueue queue = game.node("n1")) {
        assertEquals(List.of(), queue.read("player:1", Item.class));
      }
      Run plan = game.run("plan");
      assertTrue(plan.says("2  CONFLICTS"), plan::toString);
      assertTrue(plan.says("committed together with item:2,1 of player:2"), plan::toString);
      Run replay = game.run("replay --execute");
      assertTrue(replay.says("Replayed 0 rows"), replay::toString);
      assertEquals(List.of(), heirs.read("player:1", Item.class));
    }
  }

  @Test
  void besideAReplayOfTheToolNothingIsLostOrTwice() {
    playAndLoseRedis();
    CompletableFuture<Run> tool = CompletableFuture.supplyAsync(() -> game.run("replay --execute"));
    try (GameQueue queue = game.node("n1")) {
      assertEquals(List.of(new Item(1, 1, 1_001, 5)), login(queue, 1));
    }
    tool.join();
    assertEquals(ExitCodes.OK, game.run("plan").exitCode());
  }

  @Test
  void aWalFromBeforeTheTombstoneHorizonIsNotReplayed() throws Exception {
    playAndLoseRedis();
    game.database
        .server()
        .execute(
            "INSERT INTO gameq_setting VALUES ('tombstones_purged_before',"
                + " '2999-01-01T00:00:00.000Z')");
    try (GameQueue queue = game.node("n1")) {
      assertEquals(List.of(), queue.read("player:1", Item.class));
    }
  }

  @Test
  void itMayBeLeftAloneOrRefused() {
    playAndLoseRedis();
    String message =
        assertThrows(
                GameQueueException.class,
                () -> GameQueue.open(game.config("n1").earlierWals(EarlierWals.REFUSE).build()))
            .getMessage();
    assertTrue(message.contains("gameq-recovery plan"), message);
    try (GameQueue queue =
        GameQueue.open(game.config("n1").earlierWals(EarlierWals.IGNORE).build())) {
      assertEquals(List.of(), queue.read("player:1", Item.class));
    }
    assertEquals(0, game.dirtyRows());
    try (GameQueue other = game.node("n-1")) { // another node's WALs are not its own
      assertEquals(List.of(), other.read("player:1", Item.class));
    }
  }

  @Test
  void aMessageThatRedisLosesAfterACloseInOrderComesBackAndOneThatWasHandledDoesNot() {
    record Text(String text) {}
    try (GameQueue queue = game.node("n1")) {
      queue.topic("work", Text.class).publish("kept", new Text("x")).awaitQueued(LONG);
    }
    game.loseRedis();
    try (GameQueue queue = game.node("n1")) {
      assertEquals(1, game.keys(":t:work:msg").size());
      game.keys(":t:work:*").forEach(this::remove); // somebody handles it
    }
    try (GameQueue queue = game.node("n1")) {
      assertEquals(List.of(), game.keys(":t:work:msg"));
    }
  }

  private void remove(String key) {
    try (var redis = TestServers.redis()) {
      redis.sync().del(key);
    }
  }
}
