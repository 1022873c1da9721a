package io.gameq.writer;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.gameq.CommitReceipt;
import io.gameq.Conflict;
import io.gameq.ConflictException;
import io.gameq.GameQueue;
import io.gameq.GameQueueConfigBuilder;
import io.gameq.OwnerSession;
import io.gameq.redis.RedisConfig;
import io.gameq.redis.RedisConnection;
import io.gameq.redis.RedisConnector;
import io.gameq.servers.GameDatabase;
import io.gameq.servers.RedisProxy;
import io.gameq.servers.TestServers;
import io.gameq.writer.service.WriterService;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/**
 * What the game is told is lost is lost, and what is not may still come: node n1 had a player, node
 * n2 took it over with rows that were not flushed, and Redis forgets all of that.
 */
@Execution(ExecutionMode.CONCURRENT)
class ConflictReportTest {
  private static final Duration LONG = Duration.ofSeconds(40);

  /** Longer than it takes to look for what is lost, and to report it. */
  private static final Duration LONGER_THAN_ANY_LOOK = Duration.ofSeconds(6);

  record Pet(long id, long playerId, String name) {}

  @TempDir Path walDirectory;

  private final RedisConnector connector =
      new RedisConnector(new RedisConfig(TestServers.redisUri(), null, 5_000));
  private final RedisConnection redis = connector.open();
  private final RedisProxy first = new RedisProxy();
  private final RedisProxy second = new RedisProxy();
  private final Queue<Conflict> conflicts = new ConcurrentLinkedQueue<>();
  private Game game;

  @BeforeEach
  void start() throws Exception {
    game =
        new Game(
            GameDatabase.create("conflicts")
                .table(
                    "pet",
                    "player",
                    "player_id",
                    "id BIGINT NOT NULL PRIMARY KEY, player_id BIGINT NOT NULL, name VARCHAR(20)"
                        + " NOT NULL, KEY (player_id)"),
            walDirectory);
  }

  @AfterEach
  void stop() throws IOException {
    first.close();
    second.close();
    game.close();
    connector.close();
  }

  private GameQueueConfigBuilder behind(RedisProxy proxy, String node) {
    return game.config(node).redis(proxy.uri()).onConflict(conflicts::add);
  }

  private static CommitReceipt queued(OwnerSession session, Pet pet) {
    session.put(pet);
    CommitReceipt receipt = session.commit();
    receipt.awaitQueued(LONG);
    return receipt;
  }

  private void loseAllSince(RedisContents image) {
    for (RedisProxy proxy : List.of(first, second)) {
      proxy.refuse(true);
      proxy.cut();
    }
    image.restore();
  }

  @Test
  void whatAnAdopterPutsBackLateIsNotReportedAsLost() throws Exception {
    try (GameQueue one = GameQueue.open(behind(first, "n1").build());
        GameQueue two = GameQueue.open(behind(second, "n2").build())) {
      OwnerSession old = one.open("player:1");
      RedisContents replica = RedisContents.of(redis, game.namespace);
      CompletableFuture<Void> durable = queued(old, new Pet(1, 1, "adopted")).durable();
      OwnerSession successor = two.open("player:1");
      assertEquals(List.of(new Pet(1, 1, "adopted")), successor.rows(Pet.class));
      loseAllSince(replica);
      first.refuse(false); // n1 heals at once, n2 is cut off
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
            GameQueue.open(behind(first, "n1").maxConflictWait(Duration.ofSeconds(3)).build());
        GameQueue two = GameQueue.open(behind(second, "n2").build())) {
      OwnerSession old = one.open("player:1");
      RedisContents replica = RedisContents.of(redis, game.namespace);
      CompletableFuture<Void> durable = queued(old, new Pet(1, 1, "adopted")).durable();
      two.open("player:1");
      loseAllSince(replica);
      first.refuse(false);
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
    try (GameQueue one = GameQueue.open(behind(first, "n1").build());
        GameQueue two = GameQueue.open(behind(second, "n2").build())) {
      OwnerSession old = one.open("player:1");
      RedisContents replica = RedisContents.of(redis, game.namespace);
      CompletableFuture<Void> durable = queued(old, new Pet(1, 1, "lost")).durable();
      loseAllSince(replica);
      second.refuse(false);
      OwnerSession successor = two.open("player:1"); // on the Redis that has lost it
      assertEquals(List.of(), successor.rows(Pet.class));
      first.refuse(false);
      await().atMost(Duration.ofSeconds(8)).until(() -> !conflicts.isEmpty());
      assertFalse(conflicts.element().mayComeBack());
      assertInstanceOf(
          ConflictException.class,
          assertThrows(ExecutionException.class, () -> durable.get()).getCause());
    }
  }

  @Test
  void whatRedisStillHoldsInAnOlderVersionIsReportedOfNoSessionThatCommittedIt() throws Exception {
    try (GameQueue one = GameQueue.open(behind(first, "n1").build());
        GameQueue two = GameQueue.open(behind(second, "n2").build())) {
      OwnerSession oldest = one.open("player:1");
      CompletableFuture<Void> kept = queued(oldest, new Pet(1, 1, "kept")).durable();
      OwnerSession old = one.open("player:1");
      RedisContents replica = RedisContents.of(redis, game.namespace);
      CompletableFuture<Void> lost = queued(old, new Pet(1, 1, "lost")).durable();
      two.open("player:1");
      loseAllSince(replica);
      first.refuse(false);
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
