package io.gameq.writer;

import static java.nio.charset.StandardCharsets.US_ASCII;
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
import io.gameq.GameQueueException;
import io.gameq.OwnerSession;
import io.gameq.OwnershipLostException;
import io.gameq.QueueFullException;
import io.gameq.RedisUnavailableException;
import io.gameq.WhenRedisIsAway;
import io.gameq.redis.ControlConnection;
import io.gameq.redis.RedisConfig;
import io.gameq.redis.RedisConnection;
import io.gameq.redis.RedisConnector;
import io.gameq.redis.SlotKeys;
import io.gameq.redis.script.JournalMarks;
import io.gameq.servers.GameDatabase;
import io.gameq.servers.RedisProxy;
import io.gameq.servers.TestServers;
import io.gameq.writer.service.WriterService;
import java.io.IOException;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
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
 * Redis loses what it had acknowledged: a node puts back from its WAL what is still its to write,
 * and names what is not.
 */
@Execution(ExecutionMode.CONCURRENT)
class HealingTest {
  private static final Duration LONG = Duration.ofSeconds(40);

  record Pet(long id, long playerId, String name) {}

  @TempDir Path walDirectory;

  private final RedisConnector connector =
      new RedisConnector(new RedisConfig(TestServers.redisUri(), null, 5_000));
  private final RedisConnection redis = connector.open();
  private final RedisProxy proxy = new RedisProxy();
  private final Queue<Conflict> conflicts = new ConcurrentLinkedQueue<>();
  private Game game;

  @BeforeEach
  void start() throws Exception {
    game =
        new Game(
            GameDatabase.create("healing")
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
    proxy.close();
    game.close();
    connector.close();
  }

  private GameQueueConfigBuilder behindProxy(String node) {
    return game.config(node).redis(proxy.uri()).onConflict(conflicts::add);
  }

  private static CommitReceipt commit(OwnerSession session, Pet pet) {
    session.put(pet);
    return session.commit();
  }

  private static void queued(OwnerSession session, Pet pet) {
    commit(session, pet).awaitQueued(LONG);
  }

  /** As a failover does: nobody is connected while the newest writes disappear. */
  private void loseAllSince(RedisContents image) {
    proxy.refuse(true);
    proxy.cut();
    image.restore();
    proxy.refuse(false);
  }

  private void awaitRows(GameQueue reader, String owner, Pet... pets) {
    await()
        .atMost(LONG)
        .untilAsserted(() -> assertEquals(Set.of(pets), Set.copyOf(reader.read(owner, Pet.class))));
  }

  @Test
  void everythingNotInMySqlIsReplayedWhenRedisComesBackEmpty() throws Exception {
    try (GameQueue queue = GameQueue.open(behindProxy("n1").build());
        GameQueue reader = game.node("n2")) {
      List<OwnerSession> players = new ArrayList<>();
      for (int i = 1; i <= 20; i++) {
        players.add(queue.open("player:" + i));
      }
      for (int round = 1; round <= 30; round++) {
        for (int i = 1; i <= 20; i++) {
          queued(players.get(i - 1), new Pet(i, i, "v" + round));
        }
      }
      players.get(0).delete(Pet.class, 1);
      players.get(0).commit().awaitQueued(LONG);
      loseAllSince(RedisContents.empty(redis, game.namespace));
      for (int i = 2; i <= 20; i++) {
        awaitRows(reader, "player:" + i, new Pet(i, i, "v30"));
      }
      awaitRows(reader, "player:1");
      try (WriterService writer = game.writer("w1")) {
        assertEquals(Set.of(), queue.drain(LONG));
        assertEquals("19", game.queryText("SELECT COUNT(*) FROM pet WHERE name = 'v30'"));
      }
    }
    assertEquals(List.of(), List.copyOf(conflicts));
  }

  @Test
  void onlyWhatLiesBeyondTheJournalMarkIsReplayed() throws Exception {
    try (GameQueue queue = GameQueue.open(behindProxy("n1").build());
        GameQueue reader = game.node("n2")) {
      OwnerSession player = queue.open("player:1");
      queued(player, new Pet(1, 1, "kept"));
      RedisContents replica = RedisContents.of(redis, game.namespace);
      queued(player, new Pet(2, 1, "lost"));
      queued(player, new Pet(3, 1, "lost too"));
      loseAllSince(replica);
      awaitRows(
          reader,
          "player:1",
          new Pet(1, 1, "kept"),
          new Pet(2, 1, "lost"),
          new Pet(3, 1, "lost too"));
    }
  }

  @Test
  void anOpenWaitsUntilItsNodeHasPutBackWhatRedisLost() throws Exception {
    try (GameQueue queue = GameQueue.open(behindProxy("n1").build())) {
      queued(queue.open("player:1"), new Pet(1, 1, "v1"));
      proxy.refuse(true);
      proxy.cut();
      RedisContents.empty(redis, game.namespace).restore();
      long until = System.nanoTime() + TimeUnit.SECONDS.toNanos(2); // the sender tries seldom now
      while (System.nanoTime() < until) {
        assertThrows(GameQueueException.class, () -> queue.open("player:1"));
      }
      proxy.refuse(false);
      OwnerSession again = queue.open("player:1");
      assertEquals(List.of(new Pet(1, 1, "v1")), again.rows(Pet.class));
      queued(again, new Pet(2, 1, "v2"));
      try (WriterService writer = game.writer("w1")) {
        assertEquals(Set.of(), queue.drain(LONG));
      }
      assertEquals("2", game.queryText("SELECT COUNT(*) FROM pet"));
    }
    assertEquals(List.of(), List.copyOf(conflicts));
  }

  @Test
  void aConnectionThatBrokeAMomentAgoFailsNoLoginAndNoRead() {
    try (GameQueue queue = GameQueue.open(behindProxy("n1").build())) {
      queued(queue.open("player:1"), new Pet(1, 1, "v1"));
      for (int i = 0; i < 20; i++) {
        proxy.cut();
        assertEquals(1, queue.read("player:1", Pet.class).size());
        proxy.cut();
        assertEquals(1, queue.open("player:1").rows(Pet.class).size());
      }
    }
  }

  @Test
  void aClosedSessionIsHealedToo() throws Exception {
    try (GameQueue queue = GameQueue.open(behindProxy("n1").build());
        GameQueue reader = game.node("n2")) {
      OwnerSession player = queue.open("player:1");
      queued(player, new Pet(1, 1, "v1"));
      player.close();
      loseAllSince(RedisContents.empty(redis, game.namespace));
      awaitRows(reader, "player:1", new Pet(1, 1, "v1"));
    }
  }

  @Test
  void rowsThatASessionAdoptedArePutBack() throws Exception {
    try (GameQueue dead = game.node("n0");
        GameQueue queue = GameQueue.open(behindProxy("n1").build());
        GameQueue reader = game.node("n2")) {
      OwnerSession before = dead.open("player:1");
      RedisContents replica = RedisContents.of(redis, game.namespace);
      queued(before, new Pet(1, 1, "adopted"));
      OwnerSession player = queue.open("player:1");
      queued(player, new Pet(2, 1, "own"));
      loseAllSince(replica);
      awaitRows(reader, "player:1", new Pet(1, 1, "adopted"), new Pet(2, 1, "own"));
      try (WriterService writer = game.writer("w1")) {
        assertEquals(Set.of(), queue.drain(LONG));
        assertEquals("2", game.queryText("SELECT COUNT(*) FROM pet"));
      }
    }
  }

  @Test
  void aSessionOpenedWhileItsNodeHealedIsHealedBeforeAnythingIsCommitted() throws Exception {
    try (GameQueue dead = game.node("n0");
        GameQueue queue = GameQueue.open(behindProxy("n1").build());
        GameQueue reader = game.node("n2");
        Connection mysql = game.database.server().connect();
        Statement statement = mysql.createStatement()) {
      OwnerSession before = dead.open("player:1");
      OwnerSession other = queue.open("player:2");
      RedisContents replica = RedisContents.of(redis, game.namespace);
      queued(before, new Pet(1, 1, "adopted"));
      statement.execute("LOCK TABLES pet WRITE"); // which open reads after it has told Redis
      CompletableFuture<OwnerSession> opening =
          CompletableFuture.supplyAsync(() -> queue.open("player:1"));
      String adopted = "{" + game.namespace + ":*:dirty:player%3A1:0000000000000002-*";
      await().atMost(LONG).until(() -> redis.sync().keys(adopted).size() == 1);
      loseAllSince(replica);
      queued(other, new Pet(2, 2, "once healed"));
      statement.execute("UNLOCK TABLES");
      OwnerSession player = opening.get(LONG.toMillis(), TimeUnit.MILLISECONDS);
      queued(other, new Pet(3, 2, "healed again"));
      assertEquals(List.of(new Pet(1, 1, "adopted")), reader.read("player:1", Pet.class));
      assertEquals(List.of(new Pet(1, 1, "adopted")), player.rows(Pet.class));
    }
  }

  @Test
  void whatASuccessorNeverSawIsReportedAndNotReplayed() throws Exception {
    try (GameQueue one = GameQueue.open(behindProxy("n1").build());
        GameQueue two = game.node("n2")) {
      OwnerSession old = one.open("player:1");
      OwnerSession still = one.open("player:2");
      RedisContents replica = RedisContents.of(redis, game.namespace);
      CommitReceipt lost = commit(old, new Pet(1, 1, "lost"));
      lost.awaitQueued(LONG);
      queued(still, new Pet(2, 2, "healed"));
      proxy.refuse(true);
      proxy.cut();
      replica.restore();
      OwnerSession successor = two.open("player:1");
      proxy.refuse(false);
      ExecutionException e =
          assertThrows(ExecutionException.class, () -> lost.durable().get(60, TimeUnit.SECONDS));
      assertInstanceOf(ConflictException.class, e.getCause());
      assertTrue(String.valueOf(e.getCause()).contains("pet:1"), String.valueOf(e.getCause()));
      await().until(() -> conflicts.size() == 1);
      Conflict conflict = conflicts.element();
      assertEquals("player:1", conflict.owner());
      assertEquals(Set.of("pet:1"), conflict.rows().keySet());
      assertEquals(List.of(), two.read("player:1", Pet.class));
      awaitRows(two, "player:2", new Pet(2, 2, "healed"));
      assertThrows(
          OwnershipLostException.class, () -> commit(old, new Pet(3, 1, "no")).awaitQueued(LONG));
      queued(successor, new Pet(1, 1, "new"));
      assertEquals(Set.of(), old.notDurable(), "what is reported is waited for no longer");
      try (WriterService writer = game.writer("w1")) {
        assertEquals(Set.of(), two.drain(LONG));
        assertEquals(Set.of(), one.drain(LONG));
      }
    }
    try (var left = java.nio.file.Files.list(walDirectory)) {
      assertEquals(
          1,
          left.filter(wal -> wal.getFileName().toString().startsWith("n1")).count(),
          "a WAL with a conflict is kept");
    }
  }

  @Test
  void aLossThatBrokeNoConnectionIsNoticedByTheNextCommit() throws Exception {
    try (GameQueue queue = GameQueue.open(behindProxy("n1").build());
        GameQueue reader = game.node("n2")) {
      OwnerSession player = queue.open("player:1");
      OwnerSession other = queue.open("player:2");
      queued(player, new Pet(1, 1, "v1"));
      queued(other, new Pet(2, 2, "v1"));
      RedisContents.empty(redis, game.namespace).restore();
      queued(player, new Pet(3, 1, "v1"));
      awaitRows(reader, "player:1", new Pet(1, 1, "v1"), new Pet(3, 1, "v1"));
      awaitRows(reader, "player:2", new Pet(2, 2, "v1"));
    }
  }

  @Test
  void aRedisThatWasEmptiedIsNoticedByTheHeartbeatWithinSeconds() throws Exception {
    try (GameQueue queue = GameQueue.open(behindProxy("n1").build());
        GameQueue reader = game.node("n2")) {
      queued(queue.open("player:1"), new Pet(1, 1, "v1"));
      RedisContents.empty(redis, game.namespace).restore(); // as FLUSHALL, of this namespace
      redis.sync().keys(game.namespace + ":node:*").forEach(redis.sync()::del);
      await() // nobody commits, and looking for what is not durable takes longer than that
          .atMost(Duration.ofSeconds(6))
          .untilAsserted(
              () -> assertEquals(List.of(new Pet(1, 1, "v1")), reader.read("player:1", Pet.class)));
    }
  }

  @Test
  void aLossThatNobodyNoticedIsFoundByLookingForWhatIsNotDurable() throws Exception {
    try (GameQueue queue = GameQueue.open(behindProxy("n1").build())) {
      OwnerSession player = queue.open("player:1");
      CommitReceipt receipt = commit(player, new Pet(1, 1, "v1"));
      receipt.awaitQueued(LONG);
      RedisContents.empty(redis, game.namespace).restore();
      try (WriterService writer = game.writer("w1")) {
        receipt.awaitDurable(Duration.ofSeconds(60));
      }
    }
  }

  @Test
  void commitsMadeWhileRedisIsAwayAreJournaledAndSucceedLate() throws Exception {
    try (GameQueue queue = GameQueue.open(behindProxy("n1").build());
        GameQueue reader = game.node("n2")) {
      OwnerSession player = queue.open("player:1");
      OwnerSession taken = queue.open("player:2");
      queued(player, new Pet(1, 1, "v0"));
      proxy.refuse(true);
      proxy.cut();
      List<CommitReceipt> receipts = new ArrayList<>();
      for (int i = 1; i <= 2_000; i++) {
        receipts.add(commit(player, new Pet(1, 1, "v" + i)));
      }
      receipts.get(1_999).journaled().get(40, TimeUnit.SECONDS);
      CommitReceipt refused = commit(taken, new Pet(2, 2, "late"));
      refused.journaled().get(40, TimeUnit.SECONDS);
      assertFalse(receipts.get(0).queued().isDone());
      reader.open("player:2");
      proxy.refuse(false);
      for (CommitReceipt receipt : receipts) {
        receipt.awaitQueued(LONG);
      }
      assertEquals(List.of(new Pet(1, 1, "v2000")), reader.read("player:1", Pet.class));
      assertThrows(OwnershipLostException.class, () -> refused.awaitQueued(LONG));
    }
  }

  @Test
  void theJournalHasLimits() throws Exception {
    try (GameQueue queue =
        GameQueue.open(
            behindProxy("n1")
                .maxInFlight(1, 8 << 20, Duration.ZERO)
                .maxJournal(9, 8 << 20, Duration.ofSeconds(2))
                .build())) {
      OwnerSession player = queue.open("player:1");
      queued(player, new Pet(1, 1, "v0"));
      proxy.refuse(true);
      proxy.cut();
      List<CommitReceipt> receipts = new ArrayList<>();
      await()
          .atMost(LONG)
          .ignoreExceptionsInstanceOf(QueueFullException.class)
          .until(
              () -> {
                receipts.add(commit(player, new Pet(1, 1, "v")));
                return receipts.size() == 10;
              });
      assertThrows(QueueFullException.class, () -> commit(player, new Pet(1, 1, "v")));
      await()
          .atMost(LONG)
          .untilAsserted(
              () ->
                  assertThrows(
                      RedisUnavailableException.class, () -> commit(player, new Pet(1, 1, "v"))));
      proxy.refuse(false);
      for (CommitReceipt receipt : receipts) {
        receipt.awaitQueued(LONG);
      }
      await()
          .atMost(LONG)
          .ignoreExceptions()
          .until(
              () -> {
                queued(player, new Pet(1, 1, "after"));
                return true;
              });
    }
  }

  @Test
  void commitsFailAtOnceWhileRedisIsAwayWhenThePolicySaysSo() throws Exception {
    try (GameQueue queue =
        GameQueue.open(behindProxy("n1").whenRedisIsAway(WhenRedisIsAway.FAIL).build())) {
      OwnerSession player = queue.open("player:1");
      queued(player, new Pet(1, 1, "v0"));
      proxy.refuse(true);
      proxy.cut();
      await()
          .atMost(LONG)
          .untilAsserted(
              () ->
                  assertThrows(
                      RedisUnavailableException.class, () -> commit(player, new Pet(1, 1, "v1"))));
      proxy.refuse(false);
      await()
          .atMost(LONG)
          .ignoreExceptionsInstanceOf(RedisUnavailableException.class)
          .until(
              () -> {
                queued(player, new Pet(1, 1, "v2"));
                return true;
              });
    }
  }

  @Test
  void anOpenThatRedisLostMidwayBeginsAgainAndSeesWhatWasCommittedSince() throws Exception {
    try (GameQueue queue = GameQueue.open(behindProxy("n1").build());
        GameQueue other = GameQueue.open(behindProxy("n2").build());
        Connection holding = game.database.server().connect();
        Statement statement = holding.createStatement()) {
      OwnerSession player = queue.open("player:1");
      queued(player, new Pet(1, 1, "v1"));
      RedisContents replica = RedisContents.of(redis, game.namespace);
      String own = ownKey();
      byte[] before = redis.sync().get(own.getBytes(US_ASCII));
      statement.execute("LOCK TABLES pet WRITE"); // the open has taken over in Redis, and waits
      CompletableFuture<OwnerSession> open =
          CompletableFuture.supplyAsync(() -> other.open("player:1"));
      await().until(() -> !Arrays.equals(before, redis.sync().get(own.getBytes(US_ASCII))));
      loseAllSince(replica);
      queued(player, new Pet(1, 1, "v2"));
      statement.execute("UNLOCK TABLES");
      OwnerSession taken = open.get(LONG.toSeconds(), TimeUnit.SECONDS);
      assertEquals(List.of(new Pet(1, 1, "v2")), taken.rows(Pet.class));
      queued(taken, new Pet(2, 1, "w"));
      assertThrows(OwnershipLostException.class, () -> queued(player, new Pet(1, 1, "v3")));
    }
    assertEquals(List.of(), List.copyOf(conflicts));
  }

  private String ownKey() {
    return new String(redis.sync().keys("{" + game.namespace + ":*:own:*").get(0), US_ASCII);
  }

  @Test
  void marksOfNodesThatAreGoneAreRemoved() throws Exception {
    SlotKeys[] slots = SlotKeys.all(game.namespace, Game.SLOTS);
    GameQueue gone = game.node("n0");
    try (GameQueue queue = game.node("n1");
        ControlConnection control = new ControlConnection(connector)) {
      queued(gone.open("player:1"), new Pet(1, 1, "v1"));
      queued(queue.open("player:2"), new Pet(2, 2, "v1"));
      gone.close(); // rows wait: its marks stay
      assertEquals(1, JournalMarks.forgetDead(control, game.namespace, slots));
      assertEquals(0, JournalMarks.forgetDead(control, game.namespace, slots));
    }
  }

  @Test
  void aSessionThatMySqlLostIsWrittenAgain() throws Exception {
    try (GameQueue queue = GameQueue.open(behindProxy("n1").build())) {
      OwnerSession first = queue.open("player:1");
      OwnerSession second = queue.open("player:2");
      queued(first, new Pet(1, 1, "v1"));
      queued(second, new Pet(2, 2, "v1"));
      game.database.server().execute("DELETE FROM gameq_owner WHERE owner = 'player%3A1'");
      game.database
          .server()
          .execute(
              "UPDATE gameq_owner SET epoch = epoch - 1, nonce = 'deaddeaddeaddead' WHERE owner ="
                  + " 'player%3A2'");
      try (WriterService writer = game.writer("w1")) {
        assertEquals(Set.of(), queue.drain(LONG));
      }
      proxy.cut();
      queued(first, new Pet(3, 1, "v1"));
      queued(second, new Pet(4, 2, "v1"));
    }
  }
}
