package io.gameq.writer;

import static io.gameq.servers.Waits.LONG;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.gameq.ClosedException;
import io.gameq.CommitReceipt;
import io.gameq.GameQueue;
import io.gameq.OwnerHeldException;
import io.gameq.OwnerSession;
import io.gameq.OwnershipLostException;
import io.gameq.QueueFullException;
import io.gameq.RedisFullException;
import io.gameq.commit.MessageCommits;
import io.gameq.config.Takeover;
import io.gameq.config.WhenRedisIsFull;
import io.gameq.message.MessageChange;
import io.gameq.message.MessageChange.MessageId;
import io.gameq.message.MessageChange.MessageValue;
import io.gameq.node.NodeAccess;
import io.gameq.servers.GameDatabase;
import io.gameq.servers.TestServers;
import io.gameq.topic.Claimed;
import io.gameq.topic.Claims;
import io.gameq.topic.TopicOptions;
import io.gameq.writer.service.WriterService;
import io.lettuce.core.SetArgs;
import io.lettuce.core.api.sync.RedisCommands;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Isolated;

/** What happens at the limits: of rows that wait, of Redis' memory, of who may take an owner. */
@Isolated("it fills Redis, or changes its settings")
class BoundsTest {

  record Pet(long id, long playerId, String name) {}

  @TempDir Path walDirectory;

  private final RedisCommands<String, String> redis = TestServers.redis().sync();
  private Game game;

  @BeforeEach
  void start() throws Exception {
    game =
        new Game(
            GameDatabase.create("bounds")
                .table(
                    "pet",
                    "player",
                    "player_id",
                    "id BIGINT NOT NULL PRIMARY KEY, player_id BIGINT NOT NULL, name TEXT NOT NULL,"
                        + " KEY (player_id)"),
            walDirectory);
  }

  @AfterEach
  void stop() {
    redis.configSet("maxmemory", "0");
    game.close();
  }

  private static CommitReceipt commit(OwnerSession session, Pet pet) {
    session.put(pet);
    return session.commit();
  }

  /** What Redis uses now is all it may use. */
  private void fillRedis() {
    redis.configSet("maxmemory", "1");
  }

  @Test
  void anOwnerWithTooManyRowsWaitingTakesNoNewOnesButRewritesOld() {
    try (GameQueue queue =
        GameQueue.open(
            game.config("n1")
                .maxCommit(5, 1 << 20)
                .maxRowBytes(1 << 19)
                .maxInFlight(100, 1 << 20, Duration.ofMillis(100))
                .maxDirtyRowsPerOwner(5)
                .build())) {
      OwnerSession player = queue.open("player:1");
      for (int i = 1; i <= 5; i++) {
        commit(player, new Pet(i, 1, "a")).awaitQueued(LONG);
      }
      commit(player, new Pet(5, 1, "b")).awaitQueued(LONG);
      QueueFullException full =
          assertThrows(QueueFullException.class, () -> commit(player, new Pet(6, 1, "c")));
      assertTrue(full.getMessage().contains("maxDirtyRowsPerOwner"), full::getMessage);
      commit(queue.open("player:2"), new Pet(7, 2, "d")).awaitQueued(LONG);
      try (WriterService writer = game.writer("w1")) {
        await().atMost(LONG).until(() -> player.notDurable().isEmpty());
        player.commit().awaitDurable(LONG); // what was refused is still staged
        assertEquals(6, queue.read("player:1", Pet.class).size());
      }
    }
  }

  @Test
  void anOwnerWithTooManyBytesWaitingTakesNoMoreButRewritesOld() {
    try (GameQueue queue =
        GameQueue.open(
            game.config("n1")
                .maxCommit(5, 1024)
                .maxRowBytes(512)
                .maxInFlight(100, 1 << 20, Duration.ofMillis(100))
                .maxDirtyBytesPerOwner(1024)
                .build())) {
      OwnerSession player = queue.open("player:1");
      String name = "a".repeat(20);
      QueueFullException full =
          assertThrows(
              QueueFullException.class,
              () -> {
                for (int i = 1; i <= 100; i++) {
                  commit(player, new Pet(i, 1, name)).awaitQueued(LONG);
                }
              });
      assertTrue(full.getMessage().contains("maxDirtyBytesPerOwner (1024)"), full::getMessage);
      player.rollback();
      for (int i = 0; i < 100; i++) {
        commit(player, new Pet(1, 1, name)).awaitQueued(LONG);
      }
      try (WriterService writer = game.writer("w1")) {
        await().atMost(LONG).until(() -> player.notDurable().isEmpty());
        commit(player, new Pet(100, 1, name)).awaitDurable(LONG);
      }
    }
  }

  @Test
  void openingAgainPutsOffNoFlush() {
    try (GameQueue queue =
            GameQueue.open(game.config("n1").mergeWindow(Duration.ofSeconds(3)).build());
        WriterService writer = game.writer("w1")) {
      commit(queue.open("player:1"), new Pet(1, 1, "x")).awaitQueued(LONG);
      await()
          .atMost(LONG)
          .until(
              () -> {
                queue.open("player:1");
                return game.queryText("SELECT COUNT(*) FROM pet").equals("1");
              });
    }
  }

  @Test
  void atMaxmemoryProducersFailClearlyWritersDrainAndProducersGoOn() {
    try (GameQueue queue = game.node("n1")) {
      List<OwnerSession> players = new ArrayList<>();
      for (int i = 1; i <= 20; i++) {
        OwnerSession player = queue.open("player:" + i);
        commit(player, new Pet(i, i, "x")).awaitQueued(LONG);
        players.add(player);
      }
      fillRedis();
      CommitReceipt refused = commit(players.get(0), new Pet(1, 1, "y"));
      assertThrows(RedisFullException.class, () -> refused.awaitQueued(LONG));
      assertEnded(players.get(0));
      players.set(0, queue.open("player:1"));
      try (WriterService writer = game.writer("w1")) {
        for (OwnerSession player : players) {
          assertEquals(java.util.Set.of(), player.awaitDurable(LONG));
        }
        assertEquals(List.of(), redis.keys("{" + game.namespace + ":*:dirty:*"));
        redis.configSet("maxmemory", "0");
        commit(players.get(0), new Pet(1, 1, "z")).awaitDurable(LONG);
      }
    }
  }

  @Test
  void aCommitThatWaitedForRoomIsNotSentOnceItsSessionHasEnded() throws Exception {
    try (GameQueue queue =
        GameQueue.open(
            game.config("n1")
                .maxCommit(2, 1 << 20)
                .maxRowBytes(1 << 19)
                .maxInFlight(100, 1 << 20, LONG)
                .maxDirtyRowsPerOwner(2)
                .build())) {
      OwnerSession player = queue.open("player:1");
      commit(player, new Pet(1, 1, "a")).awaitQueued(LONG);
      commit(player, new Pet(2, 1, "a")).awaitQueued(LONG);
      CompletableFuture<CommitReceipt> waiting = new CompletableFuture<>();
      Thread thread =
          new Thread(
              () ->
                  waiting.completeAsync(
                      () -> commit(player, new Pet(3, 1, "half")), Runnable::run));
      thread.start();
      await().atMost(LONG).until(() -> thread.getState() == Thread.State.TIMED_WAITING);
      fillRedis();
      CommitReceipt refused = commit(player, new Pet(1, 1, "b"));
      assertThrows(RedisFullException.class, () -> refused.awaitQueued(LONG));
      redis.configSet("maxmemory", "0");
      try (WriterService writer = game.writer("w1")) {
        ExecutionException ended = assertThrows(ExecutionException.class, waiting::get);
        assertTrue(ended.getCause() instanceof ClosedException, ended::toString);
        assertEquals(java.util.Set.of(), player.awaitDurable(LONG));
        assertEquals(0, writer.stats().deadLetters());
      }
      assertEquals("a,a", game.queryText("SELECT GROUP_CONCAT(name) FROM pet"));
    }
  }

  private static void assertEnded(OwnerSession session) {
    await().atMost(LONG).until(() -> session.lost().toCompletableFuture().isDone());
    String why =
        assertThrows(ClosedException.class, () -> session.put(new Pet(1, 1, "half"))).getMessage();
    assertTrue(why.contains("what the game remembers may be ahead of its rows"), why);
    session.close(); // it has nothing to say of what nobody commits
  }

  @Test
  void commitsMayWaitForRoomInRedisAndKeepTheirOrder() throws Exception {
    try (GameQueue queue =
        GameQueue.open(game.config("n1").whenRedisIsFull(WhenRedisIsFull.WAIT).build())) {
      OwnerSession player = queue.open("player:1");
      fillRedis();
      List<CommitReceipt> receipts = new ArrayList<>();
      for (int i = 0; i < 50; i++) {
        receipts.add(commit(player, new Pet(1 + i % 3, 1, "v" + i)));
      }
      await()
          .during(Duration.ofMillis(300))
          .until(() -> receipts.stream().noneMatch(r -> r.queued().isDone()));
      redis.configSet("maxmemory", "0");
      for (CommitReceipt receipt : receipts) {
        receipt.awaitQueued(LONG);
      }
      assertEquals(
          List.of("v47", "v48", "v49"),
          queue.read("player:1", Pet.class).stream().map(Pet::name).sorted().toList());
      try (WriterService writer = game.writer("w1")) {
        receipts.get(49).awaitDurable(LONG);
        assertEquals(
            "v47,v48,v49", game.queryText("SELECT GROUP_CONCAT(name ORDER BY name) FROM pet"));
      }
    }
  }

  @Test
  void aFullRedisRefusesPublishesOrHasThemWaitAndTakesAcknowledgements() throws Exception {
    for (WhenRedisIsFull policy : WhenRedisIsFull.values()) {
      try (GameQueue queue =
          GameQueue.open(game.config("n-" + policy).whenRedisIsFull(policy).build())) {
        String topic = "mail";
        MessageId first = MessageId.of(topic, null, policy + " first");
        MessageId second = MessageId.of(topic, null, policy + " second");
        MessageCommits messages = NodeAccess.messages(queue);
        messages.commit(List.of(publish(first))).awaitQueued(LONG);
        Claims<byte[]> claims = queue.topic(topic, TopicOptions.DEFAULT).claims();
        List<String> taken =
            claims.take(1, LONG).get(1, TimeUnit.MINUTES).stream().map(Claimed::claim).toList();
        fillRedis();
        CommitReceipt refused = messages.commit(List.of(publish(second)));
        assertEquals(List.of(), claims.acknowledge(taken).get(1, TimeUnit.MINUTES));
        if (policy == WhenRedisIsFull.FAIL) {
          assertThrows(RedisFullException.class, () -> refused.awaitQueued(LONG));
        } else {
          assertEquals(false, refused.queued().isDone());
        }
        redis.configSet("maxmemory", "0");
        if (policy == WhenRedisIsFull.WAIT) {
          refused.awaitQueued(LONG);
        }
        messages.commit(List.of(publish(first))).awaitQueued(LONG);
        assertEquals(policy == WhenRedisIsFull.WAIT ? 2 : 1, pendingOf(topic, policy.name()));
      }
    }
  }

  @Test
  void whatDeletesOrRetimesAMessageDoesNotOvertakeItsPublishWhileThatWaitsForRoom()
      throws Exception {
    try (GameQueue queue =
        GameQueue.open(game.config("n1").whenRedisIsFull(WhenRedisIsFull.WAIT).build())) {
      MessageCommits messages = NodeAccess.messages(queue);
      MessageId retimed = MessageId.of("mail", null, "retimed");
      MessageId other = MessageId.of("mail", null, "other");
      messages.commit(List.of(publish(other))).awaitQueued(LONG);
      fillRedis();
      List<CommitReceipt> all = new ArrayList<>();
      for (int i = 0; i < 500; i++) { // some in one group, some in groups on their way together
        MessageId deleted = MessageId.of("mail", null, "deleted" + i);
        all.add(messages.commit(List.of(publish(deleted))));
        all.add(messages.commit(List.of(delete(deleted))));
      }
      all.add(messages.commit(List.of(publish(retimed))));
      all.add(messages.commit(List.of(new MessageChange.Retime(retimed, slot(retimed), 9_000))));
      CommitReceipt late = messages.commit(List.of(publish(other)));
      CommitReceipt deletesLate = messages.commit(List.of(delete(other)));
      await().pollDelay(Duration.ofMillis(300)).until(() -> true);
      assertEquals(false, deletesLate.queued().isDone());
      assertEquals(1, pendingOf("mail", "other"), "it is deleted after it was published again");
      redis.configSet("maxmemory", "0");
      for (CommitReceipt receipt : all) {
        receipt.awaitQueued(LONG);
      }
      late.awaitQueued(LONG);
      deletesLate.awaitQueued(LONG);
      assertEquals(0, pendingOf("mail", "deleted"));
      assertEquals(0, pendingOf("mail", "other"));
      String due = "{" + game.namespace + ":" + slot(retimed) + "}:t:mail:due";
      assertEquals(9_000, redis.zscore(due, "retimed"));
    }
  }

  private static int slot(MessageId id) {
    return id.slot(Game.SLOTS);
  }

  private static MessageChange delete(MessageId id) {
    return new MessageChange.Delete(id, slot(id));
  }

  private static MessageChange publish(MessageId id) {
    return new MessageChange.Publish(
        id, slot(id), 1, false, 0, MessageValue.encode(1, 0, "", new byte[100]));
  }

  private long pendingOf(String topic, String prefix) {
    return redis.keys("{" + game.namespace + ":*:t:" + topic + ":msg").stream()
        .flatMap(key -> redis.hkeys(key).stream())
        .filter(id -> id.startsWith(prefix))
        .count();
  }

  @Test
  void anOwnerIsNotTakenFromANodeThatIsAliveUnlessAskedFor() {
    try (GameQueue first = game.node("n1");
        GameQueue second = game.node("n2")) {
      OwnerSession player = first.open("player:1");
      OwnerHeldException held =
          assertThrows(
              OwnerHeldException.class, () -> second.open("player:1", Takeover.UNLESS_ALIVE));
      assertTrue(held.getMessage().contains("n1"), held::getMessage);
      commit(player, new Pet(1, 1, "x")).awaitQueued(LONG);
      assertThrows(OwnerHeldException.class, () -> first.open("player:1", Takeover.UNLESS_ALIVE));
      player.close();

      OwnerSession again = second.open("player:1", Takeover.UNLESS_ALIVE); // it was closed
      commit(again, new Pet(1, 1, "y")).awaitQueued(LONG);
      first.open("player:1", Takeover.ALWAYS);
      CommitReceipt late = commit(again, new Pet(1, 1, "z"));
      assertThrows(OwnershipLostException.class, () -> late.awaitQueued(LONG));
    }
  }

  @Test
  void anOpenThatFailedHalfwayDoesNotMakeAnOwnerLookFree() throws Exception {
    try (GameQueue first = game.node("n1");
        GameQueue second = game.node("n2")) {
      first.open("player:1");
      game.database
          .server()
          .execute(
              "UPDATE gameq_owner SET before_epoch = epoch, before_nonce = nonce, epoch = epoch +"
                  + " 1, nonce = 'deaddeaddeaddead', state = 'opening'");
      OwnerHeldException held =
          assertThrows(
              OwnerHeldException.class, () -> second.open("player:1", Takeover.UNLESS_ALIVE));
      assertTrue(held.getMessage().contains("n1"), held::getMessage);
    }
  }

  @Test
  void anOwnerIsTakenFromANodeThatGivesNoSignOfLife() {
    try (GameQueue first = game.node("n1");
        GameQueue second = game.node("n2")) {
      first.open("player:1");
      redis.keys(game.namespace + ":node:*").stream()
          .filter(key -> redis.get(key).equals("n1"))
          .forEach(redis::del); // as after 15 s of silence
      redis.set(
          game.namespace + ":nodes", "0", SetArgs.Builder.px(7_500)); // in which others gave theirs
      second.open("player:1", Takeover.UNLESS_ALIVE);
    }
  }

  @Test
  void atMaxmemoryNodesStartAndGiveSignsOfLife() {
    try (GameQueue first = game.node("n1")) {
      first.open("player:1");
      fillRedis();
      try (GameQueue second = game.node("n2")) {
        assertThrows(
            OwnerHeldException.class, () -> second.open("player:1", Takeover.UNLESS_ALIVE));
        assertEquals(2, redis.keys(game.namespace + ":node:*").size());
      }
    }
  }

  @Test
  void rewritingTheSameRowsTakesNoMoreMemoryInRedis() {
    try (GameQueue queue = game.node("n1")) {
      OwnerSession player = queue.open("player:1");
      long once = 0;
      for (int round = 0; round < 200; round++) {
        for (int pet = 1; pet <= 20; pet++) {
          player.put(new Pet(pet, 1, "name " + (100 + round)));
        }
        player.commit().awaitQueued(LONG);
        once = once == 0 ? memory() : once;
      }
      assertEquals(once, memory(), "bytes in all keys of the game");
    }
  }

  /** Without the journal mark, whose digits grow. */
  private long memory() {
    return redis.keys("{" + game.namespace + ":*").stream()
        .filter(key -> !key.endsWith(":journal"))
        .mapToLong(redis::memoryUsage)
        .sum();
  }
}
