package io.gameq.writer;

import static io.gameq.servers.Waits.LONG;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.gameq.ConflictException;
import io.gameq.GameQueue;
import io.gameq.OwnerSession;
import io.gameq.servers.FaultProxy;
import io.gameq.writer.service.WriterService;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/**
 * What the game is told is lost is lost, and what is not may still come: node n1 had a player, node
 * n2 took it over with rows that were not flushed, and Redis forgets all of that.
 */
@Execution(ExecutionMode.CONCURRENT)
class ConflictReportTest extends RedisLossFixture {
  /** Longer than it takes to look for what is lost, and to report it. */
  private static final Duration LONGER_THAN_ANY_LOOK = Duration.ofSeconds(6);

  private final FaultProxy second = FaultProxy.ofRedis();

  @AfterEach
  void closeSecond() throws IOException {
    second.close();
  }

  private void loseAllAndStayAway(RedisContents image) {
    cutOff();
    second.refuse(true);
    second.cut();
    image.restore();
  }

  @Test
  void whatAnAdopterPutsBackLateIsNotReportedAsLost() throws Exception {
    try (GameQueue one = nodeBehindProxy("n1");
        GameQueue two = GameQueue.open(behind(second.uri(), "n2").build())) {
      OwnerSession old = one.open("player:1");
      RedisContents replica = RedisContents.of(redis, game.namespace);
      CompletableFuture<Void> durable = queued(old, new Pet(1, 1, "adopted")).durable();
      OwnerSession successor = two.open("player:1");
      assertEquals(List.of(new Pet(1, 1, "adopted")), successor.rows(Pet.class));
      loseAllAndStayAway(replica);
      proxy.refuse(false); // n1 heals at once, n2 is cut off
      await()
          .during(LONGER_THAN_ANY_LOOK)
          .atMost(LONG)
          .until(() -> conflicts.isEmpty() && !durable.isDone());
      second.refuse(false);
      try (WriterService writer = game.writer("w1")) {
        durable.get(LONG.toSeconds(), TimeUnit.SECONDS);
        assertEquals("adopted", game.queryText("SELECT name FROM pet"));
      }
      assertEquals(List.of(), List.copyOf(conflicts));
      assertEquals(Set.of(), old.notDurable());
    }
  }

  @Test
  void whatAnAdopterThatIsGoneMayHoldIsReportedAsSuchAfterAWhile() throws Exception {
    try (GameQueue one =
            GameQueue.open(behindProxy("n1").maxConflictWait(Duration.ofSeconds(3)).build());
        GameQueue two = GameQueue.open(behind(second.uri(), "n2").build())) {
      OwnerSession old = one.open("player:1");
      RedisContents replica = RedisContents.of(redis, game.namespace);
      CompletableFuture<Void> durable = queued(old, new Pet(1, 1, "adopted")).durable();
      two.open("player:1");
      loseAllAndStayAway(replica);
      proxy.refuse(false);
      await().atMost(LONG).until(() -> !conflicts.isEmpty());
      assertTrue(conflicts.element().mayComeBack());
      ExecutionException e = assertThrows(ExecutionException.class, () -> durable.get());
      assertTrue(assertInstanceOf(ConflictException.class, e.getCause()).conflict().mayComeBack());
      second.refuse(false);
      await()
          .atMost(LONG)
          .until(() -> one.read("player:1", Pet.class).equals(List.of(new Pet(1, 1, "adopted"))));
    }
  }

  @Test
  void whatNobodyHoldsIsReportedAtOnceAndForCertain() throws Exception {
    try (GameQueue one = nodeBehindProxy("n1");
        GameQueue two = GameQueue.open(behind(second.uri(), "n2").build())) {
      OwnerSession old = one.open("player:1");
      RedisContents replica = RedisContents.of(redis, game.namespace);
      CompletableFuture<Void> durable = queued(old, new Pet(1, 1, "lost")).durable();
      loseAllAndStayAway(replica);
      second.refuse(false);
      OwnerSession successor = two.open("player:1"); // on the Redis that has lost it
      assertEquals(List.of(), successor.rows(Pet.class));
      proxy.refuse(false);
      await().atMost(LONG).until(() -> !conflicts.isEmpty());
      assertFalse(conflicts.element().mayComeBack());
      assertInstanceOf(
          ConflictException.class,
          assertThrows(ExecutionException.class, () -> durable.get()).getCause());
    }
  }

  @Test
  void whatRedisStillHoldsInAnOlderVersionIsReportedOfNoSessionThatCommittedIt() throws Exception {
    try (GameQueue one = nodeBehindProxy("n1");
        GameQueue two = GameQueue.open(behind(second.uri(), "n2").build())) {
      OwnerSession oldest = one.open("player:1");
      CompletableFuture<Void> kept = queued(oldest, new Pet(1, 1, "kept")).durable();
      OwnerSession old = one.open("player:1");
      RedisContents replica = RedisContents.of(redis, game.namespace);
      CompletableFuture<Void> lost = queued(old, new Pet(1, 1, "lost")).durable();
      two.open("player:1");
      loseAllAndStayAway(replica);
      proxy.refuse(false);
      OwnerSession newest = one.open("player:1");
      assertEquals(List.of(new Pet(1, 1, "kept")), newest.rows(Pet.class));
      await().atMost(LONG).until(lost::isDone);
      assertEquals(Set.of("pet:1"), newest.notDurable());
      try (WriterService writer = game.writer("w1")) {
        kept.get(LONG.toSeconds(), TimeUnit.SECONDS);
        assertEquals("kept", game.queryText("SELECT name FROM pet"));
      }
      assertEquals(1, conflicts.size(), () -> "of three sessions one lost it: " + conflicts);
    }
  }
}
