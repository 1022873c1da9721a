package io.gameq.writer;

import static io.gameq.servers.Waits.LONG;
import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.gameq.CommitReceipt;
import io.gameq.GameQueue;
import io.gameq.OwnerSession;
import io.gameq.servers.FaultProxy;
import io.gameq.writer.service.WriterService;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/**
 * What happens around a loss and the healing after it, in the order that hurts most: notices,
 * closes, trades, late bytes and successors between two steps.
 */
@Execution(ExecutionMode.CONCURRENT)
class HealingRacesTest extends RedisLossFixture {
  @Test
  void aCommitWhoseRowWasOverwrittenAndThenLostIsNotDurable() throws Exception {
    try (GameQueue one = nodeBehindProxy("n1");
        GameQueue two = game.node("n2")) {
      OwnerSession old = one.open("player:1");
      RedisContents replica = RedisContents.of(redis, game.namespace);
      CommitReceipt first = commit(old, new Pet(1, 1, "v5"));
      first.awaitQueued(LONG);
      CommitReceipt second = commit(old, new Pet(1, 1, "v6"));
      second.awaitQueued(LONG);
      CompletableFuture<Void> firstDurable = first.durable();
      cutOff();
      replica.restore();
      two.open("player:1");
      proxy.refuse(false);
      assertThrows(
          ExecutionException.class, () -> second.durable().get(LONG.toSeconds(), TimeUnit.SECONDS));
      assertEquals("0", game.queryText("SELECT COUNT(*) FROM pet"));
      assertThrows(
          ExecutionException.class, () -> firstDurable.get(LONG.toSeconds(), TimeUnit.SECONDS));
    }
  }

  @Test
  void aNoticeBeforeTheReplayDoesNotHideWhatRedisLost() throws Exception {
    try (RedisTap tap = new RedisTap();
        GameQueue queue =
            GameQueue.open(game.config("n1").redis(tap.uri()).onConflict(conflicts::add).build())) {
      OwnerSession player = queue.open("player:1");
      CommitReceipt lost = commit(player, new Pet(1, 1, "acknowledged"));
      lost.awaitQueued(LONG);
      RedisContents.empty(redis, game.namespace).restore();
      tap.slowReassert = true;
      CommitReceipt next = commit(player, new Pet(2, 1, "next"));
      assertTrue(tap.reasserted.await(LONG.toSeconds(), TimeUnit.SECONDS));
      try (WriterService writer = game.writer("w1")) {
        lost.awaitDurable(LONG);
        next.awaitDurable(LONG);
        assertEquals(Set.of(), queue.drain(LONG));
        assertEquals(List.of(), List.copyOf(conflicts));
        assertEquals("2", game.queryText("SELECT COUNT(*) FROM pet"));
      }
    }
  }

  @Test
  void aCommitSentAgainBecomesDurableThoughItsSessionStaysBusy() throws Exception {
    try (GameQueue queue = nodeBehindProxy("n1");
        WriterService writer = game.writer("w1")) {
      OwnerSession player = queue.open("player:1");
      queued(player, new Pet(1, 1, "v0"));
      proxy.dropReplies();
      CommitReceipt again = commit(player, new Pet(1, 1, "again"));
      await().atMost(LONG).until(() -> inRedisOrMySql("again"));
      proxy.cut();
      proxy.heal();
      again.awaitQueued(LONG);
      CompletableFuture<Void> durable = again.durable();
      long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(30);
      int i = 0;
      while (System.nanoTime() < end && !durable.isDone()) {
        commit(player, new Pet(2, 1, "v" + i++)).awaitDurable(LONG);
        Thread.sleep(100);
      }
      String busy = "durable while busy: " + durable.isDone();
      durable.get(40, TimeUnit.SECONDS);
      assertEquals("durable while busy: true", busy);
    }
  }

  private boolean inRedisOrMySql(String name) throws Exception {
    return game.queryText("SELECT COUNT(*) FROM pet WHERE name = '" + name + "'").equals("1");
  }

  @Test
  void theOldConnectionIsSilencedThoughTheFirstAttemptToHealBroke() throws Exception {
    try (RedisTap tap = new RedisTap();
        GameQueue queue =
            GameQueue.open(game.config("n1").redis(tap.uri()).onConflict(conflicts::add).build());
        GameQueue reader = game.node("n2")) {
      OwnerSession player = queue.open("player:1");
      queued(player, new Pet(1, 1, "v0"));
      tap.holdSender();
      tap.cutOnKill.set(1);
      CommitReceipt old = commit(player, new Pet(1, 1, "old"));
      old.awaitQueued(LONG); // sent again over another connection
      queued(player, new Pet(1, 1, "new"));
      assertEquals(0, tap.cutOnKill.get());
      tap.release();
      await()
          .during(Duration.ofMillis(500))
          .until(() -> reader.read("player:1", Pet.class).equals(List.of(new Pet(1, 1, "new"))));
    }
  }

  @Test
  void noConnectionIsKilledOnAServerThatHidesWhichOneItIs() throws Exception {
    try (RedisTap tap = new RedisTap()) {
      tap.hidesRunId = true;
      try (GameQueue queue = GameQueue.open(game.config("n1").redis(tap.uri()).build())) {
        OwnerSession player = queue.open("player:1");
        queued(player, new Pet(1, 1, "before"));
        tap.cutSender();
        queued(player, new Pet(1, 1, "after"));
        assertEquals(0, tap.kills.get(), "its number may be that of a stranger's connection");
      }
      tap.hidesRunId = false;
      try (GameQueue queue = GameQueue.open(game.config("n2").redis(tap.uri()).build())) {
        OwnerSession player = queue.open("player:1");
        queued(player, new Pet(1, 1, "before"));
        tap.cutSender();
        queued(player, new Pet(1, 1, "after"));
        assertEquals(1, tap.kills.get());
      }
    }
  }

  @Test
  void aCommitThatPassesItsSessionsCloseIsHealedToo() throws Exception {
    try (GameQueue queue =
        GameQueue.open(
            behindProxy("n1")
                .mergeWindow(Duration.ofSeconds(10))
                .maxCommit(2, 8 << 20)
                .maxDirtyRowsPerOwner(2)
                .build())) {
      OwnerSession a = queue.open("player:1");
      OwnerSession b = queue.open("player:2");
      queued(b, new Pet(2, 2, "full"));
      queued(b, new Pet(4, 2, "full"));
      a.put(new Pet(1, 1, "traded"));
      b.put(new Pet(3, 2, "traded"));
      CompletableFuture<CommitReceipt> trade = new CompletableFuture<>();
      Thread trading = new Thread(() -> trade.complete(queue.commit(a, b)));
      trading.start();
      await()
          .atMost(LONG)
          .until(() -> trading.getState() == Thread.State.TIMED_WAITING); // for room of b
      CompletableFuture<Void> close = CompletableFuture.runAsync(a::close);
      try (WriterService writer = game.writer("w1")) {
        trade.get(LONG.toSeconds(), TimeUnit.SECONDS).awaitQueued(LONG);
        close.get(LONG.toSeconds(), TimeUnit.SECONDS);
      }
      assumeTrue(
          game.queryText("SELECT COUNT(*) FROM pet WHERE id = 1").equals("0"),
          "the writer was slow to stop and flushed the row: there is nothing to lose");
      loseAllSince(RedisContents.empty(redis, game.namespace));
      queued(b, new Pet(3, 2, "healed"));
      try (WriterService writer = game.writer("w2")) {
        assertEquals(Set.of(), queue.drain(LONG));
        assertTrue(
            !game.queryText("SELECT COUNT(*) FROM pet WHERE id = 1").equals("0")
                || !conflicts.isEmpty(),
            "pet 1 was acknowledged, is nowhere, and nobody was told");
      }
    }
  }

  @Test
  void whatASupersededSessionCommitsIsNotAdoptedForASuccessorThatIsOpen() throws Exception {
    try (FaultProxy ofTwo = FaultProxy.ofRedis();
        GameQueue one = nodeBehindProxy("n1");
        GameQueue two = GameQueue.open(game.config("n2").redis(ofTwo.uri()).build())) {
      OwnerSession old = one.open("player:1");
      RedisContents replica = RedisContents.of(redis, game.namespace);
      OwnerSession successor = two.open("player:1"); // on the primary that is lost
      ofTwo.refuse(true);
      ofTwo.cut();
      replica.restore();
      CommitReceipt late = commit(old, new Pet(1, 1, "late"));
      late.awaitQueued(LONG);
      try (WriterService writer = game.writer("w1", 1_000)) {
        await().atMost(LONG).until(this::redisKnowsTheSecondSession); // from the writer
        ofTwo.refuse(false);
        await().atMost(LONG).until(() -> late.durable().isDone() || !conflicts.isEmpty());
        assertEquals(List.of(), successor.rows(Pet.class));
        assertEquals(
            "0",
            game.queryText("SELECT COUNT(*) FROM pet WHERE name = 'late'"),
            "the successor, open and alive, never saw it: it should be a conflict");
      }
    }
  }

  private boolean redisKnowsTheSecondSession() {
    return redis.sync().keys("{" + game.namespace + ":*:own:*").stream()
        .anyMatch(
            own -> new String(redis.sync().get(own), ISO_8859_1).startsWith("0".repeat(15) + "2"));
  }

  @Test
  void oneBrokenKeyDoesNotStopTheHealingOfAllSessions() throws Exception {
    try (GameQueue queue = nodeBehindProxy("n1")) {
      OwnerSession unused = queue.open("player:1");
      OwnerSession other = queue.open("player:2");
      byte[] own =
          redis.sync().keys("{" + game.namespace + ":*:own:*").stream()
              .filter(key -> new String(key, ISO_8859_1).endsWith("1"))
              .findFirst()
              .orElseThrow();
      redis.sync().del(own);
      redis.sync().lpush(own, "x".getBytes(ISO_8859_1));
      proxy.cut();
      commit(other, new Pet(2, 2, "v1")).awaitQueued(LONG);
      assertNotEquals(null, unused);
    }
  }
}
