package io.gameq.node;

import static io.gameq.servers.Waits.LONG;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.gameq.CommitReceipt;
import io.gameq.GameQueue;
import io.gameq.GameQueueException;
import io.gameq.OwnerHeldException;
import io.gameq.OwnerSession;
import io.gameq.config.GameQueueConfigBuilder;
import io.gameq.config.Takeover;
import io.gameq.servers.GameDatabase;
import java.nio.file.Path;
import java.sql.SQLException;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What the game hangs on futures, and its listeners. */
class GamesOwnCodeTest {
  private static final GameDatabase DATABASE = database();

  record Pet(long id, long playerId) {}

  @TempDir Path walDirectory;

  private static GameDatabase database() {
    try {
      return GameDatabase.create("callbacks")
          .table(
              "pet",
              "player",
              "player_id",
              "id BIGINT NOT NULL PRIMARY KEY, player_id BIGINT NOT NULL");
    } catch (SQLException e) {
      throw new IllegalStateException(e);
    }
  }

  private GameQueueConfigBuilder config() throws SQLException {
    DATABASE.server().execute("DELETE FROM gameq_setting WHERE name = 'namespace'");
    return TestNodes.on(DATABASE)
        .namespace("t" + UUID.randomUUID().toString().substring(0, 8))
        .node("n1")
        .slots(4)
        .walDirectory(walDirectory);
  }

  private static CommitReceipt putPet(OwnerSession session, long id) {
    session.put(new Pet(id, 1));
    return session.commit();
  }

  @Test
  void itRunsOnTheGamesExecutorAndHoldsUpNothingWhenItBlocks() throws Exception {
    ExecutorService ofGame = Executors.newSingleThreadExecutor(task -> new Thread(task, "of game"));
    CountDownLatch blocked = new CountDownLatch(1);
    try (GameQueue queue = GameQueue.open(config().callbacks(ofGame).build())) {
      ofGame.execute(() -> await(blocked));
      OwnerSession player = queue.open("player:1");
      CommitReceipt receipt = putPet(player, 1);
      List<CompletableFuture<String>> threads =
          Stream.of(receipt.journaled(), receipt.queued())
              .map(future -> future.thenApply(nothing -> thread()))
              .toList();
      CompletableFuture<String> open = receipt.durable().handle((nothing, error) -> thread());
      receipt.awaitQueued(LONG);
      putPet(player, 2).awaitQueued(LONG);
      assertEquals(2, queue.open("player:1").rows(Pet.class).size());
      queue.open("player:2").close();
      blocked.countDown();
      for (CompletableFuture<String> thread : threads) { // this one when it came too late
        assertTrue(Set.of("of game", thread()).contains(get(thread)), get(thread));
      }
      queue.close();
      assertEquals("of game", get(open));
    } finally {
      blocked.countDown();
      ofGame.shutdown();
    }
  }

  private static String thread() {
    return Thread.currentThread().getName();
  }

  private static <T> T get(CompletableFuture<T> future) throws Exception {
    return future.get(LONG.toSeconds(), TimeUnit.SECONDS);
  }

  private static void await(CountDownLatch latch) {
    try {
      assertTrue(latch.await(LONG.toSeconds(), TimeUnit.SECONDS));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  @Test
  void futuresThatAreLeftWhenTheNodeClosesEnd() throws Exception {
    GameQueue queue = GameQueue.open(config().build());
    CommitReceipt receipt = putPet(queue.open("player:1"), 1);
    CompletableFuture<Void> durable = receipt.durable();
    receipt.awaitQueued(LONG);
    queue.close();
    assertIsOpen(durable);
    assertIsOpen(receipt.durable());
    assertThrows(GameQueueException.class, () -> receipt.awaitDurable(LONG));
  }

  private static void assertIsOpen(CompletableFuture<Void> durable) {
    ExecutionException failed = assertThrows(ExecutionException.class, () -> get(durable));
    GameQueueException cause = assertInstanceOf(GameQueueException.class, failed.getCause());
    assertTrue(String.valueOf(cause.getMessage()).contains("outcome is open"), cause::getMessage);
  }

  @Test
  void aNodeWhoseSenderDiedSaysSoAndGivesNoSignOfLifeAnyMore() throws Exception {
    CompletableFuture<Throwable> told = new CompletableFuture<>();
    GameQueueConfigBuilder config = config().onFailure(told::complete);
    try (GameQueue queue = GameQueue.open(config.build());
        GameQueue other = GameQueue.open(config.node("n2").build())) {
      queue.open("player:1");
      AssertionError cause = new AssertionError("out of something");
      ((NodeQueue) queue).node.died(cause);
      assertEquals(cause, get(told));
      GameQueueException refused =
          assertThrows(GameQueueException.class, () -> queue.open("player:1"));
      assertTrue(
          String.valueOf(refused.getMessage()).contains("out of something"), refused::getMessage);
      Awaitility.await().atMost(LONG).until(() -> !isHeldByALiveNode(other));
    }
  }

  private static boolean isHeldByALiveNode(GameQueue queue) {
    try {
      queue.open("player:1", Takeover.UNLESS_ALIVE);
      return false;
    } catch (OwnerHeldException e) {
      return !String.valueOf(e.getMessage()).contains("on a node that may be alive");
    }
  }
}
