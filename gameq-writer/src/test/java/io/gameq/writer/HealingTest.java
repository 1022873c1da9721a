package io.gameq.writer;

import static io.gameq.servers.Waits.LONG;
import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.gameq.CommitReceipt;
import io.gameq.Conflict;
import io.gameq.ConflictException;
import io.gameq.GameQueue;
import io.gameq.GameQueueException;
import io.gameq.OwnerSession;
import io.gameq.OwnershipLostException;
import io.gameq.RedisUnavailableException;
import io.gameq.redis.ControlConnection;
import io.gameq.redis.SlotKeys;
import io.gameq.redis.script.JournalMarks;
import io.gameq.writer.service.WriterService;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/**
 * Redis loses what it had acknowledged: a node puts back from its WAL what is still its to write,
 * and names what is not.
 */
@Execution(ExecutionMode.CONCURRENT)
class HealingTest extends RedisLossFixture {
  private void awaitRows(GameQueue reader, String owner, Pet... pets) {
    await()
        .atMost(LONG)
        .untilAsserted(() -> assertEquals(Set.of(pets), Set.copyOf(reader.read(owner, Pet.class))));
  }

  @Test
  void everythingNotInMySqlIsReplayedWhenRedisComesBackEmpty() throws Exception {
    try (GameQueue queue = nodeBehindProxy("n1");
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
    try (GameQueue queue = nodeBehindProxy("n1");
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
    try (GameQueue queue = nodeBehindProxy("n1")) {
      queued(queue.open("player:1"), new Pet(1, 1, "v1"));
      cutOff();
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
  void aClosedSessionIsHealedToo() throws Exception {
    try (GameQueue queue = nodeBehindProxy("n1");
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
        GameQueue queue = nodeBehindProxy("n1");
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
        GameQueue queue = nodeBehindProxy("n1");
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
    try (GameQueue one = nodeBehindProxy("n1");
        GameQueue two = game.node("n2")) {
      OwnerSession old = one.open("player:1");
      OwnerSession still = one.open("player:2");
      RedisContents replica = RedisContents.of(redis, game.namespace);
      CommitReceipt lost = commit(old, new Pet(1, 1, "lost"));
      lost.awaitQueued(LONG);
      queued(still, new Pet(2, 2, "healed"));
      cutOff();
      replica.restore();
      OwnerSession successor = two.open("player:1");
      proxy.refuse(false);
      ExecutionException e =
          assertThrows(
              ExecutionException.class,
              () -> lost.durable().get(LONG.toSeconds(), TimeUnit.SECONDS));
      assertInstanceOf(ConflictException.class, e.getCause());
      assertTrue(String.valueOf(e.getCause()).contains("pet:1"), String.valueOf(e.getCause()));
      await().atMost(LONG).until(() -> conflicts.size() == 1);
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
    try (GameQueue queue = nodeBehindProxy("n1");
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
    try (GameQueue queue = nodeBehindProxy("n1");
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
    try (GameQueue queue = nodeBehindProxy("n1")) {
      OwnerSession player = queue.open("player:1");
      CommitReceipt receipt = commit(player, new Pet(1, 1, "v1"));
      receipt.awaitQueued(LONG);
      RedisContents.empty(redis, game.namespace).restore();
      try (WriterService writer = game.writer("w1")) {
        receipt.awaitDurable(LONG);
      }
    }
  }

  @Test
  void anOpenThatRedisLostMidwayBeginsAgainAndSeesWhatWasCommittedSince() throws Exception {
    try (GameQueue queue = nodeBehindProxy("n1");
        GameQueue other = nodeBehindProxy("n2");
        Connection holding = game.database.server().connect();
        Statement statement = holding.createStatement()) {
      OwnerSession player = queue.open("player:1");
      queued(player, new Pet(1, 1, "v1"));
      RedisContents replica = RedisContents.of(redis, game.namespace);
      CompletableFuture<OwnerSession> open = openHeldMidway(other, statement);
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

  @Test
  void whatAnOpenHadAdoptedIsPutBackThoughTheOpenFails() throws Exception {
    try (GameQueue queue = nodeBehindProxy("n1");
        GameQueue other = nodeBehindProxy("n2");
        Connection holding = game.database.server().connect();
        Statement statement = holding.createStatement()) {
      OwnerSession player = queue.open("player:1");
      RedisContents replica = RedisContents.of(redis, game.namespace);
      CommitReceipt receipt = queued(player, new Pet(1, 1, "v1"));
      CompletableFuture<OwnerSession> open = openHeldMidway(other, statement); // has adopted that
      cutOff();
      replica.restore();
      statement.execute("UNLOCK TABLES");
      ExecutionException failure =
          assertThrows(
              ExecutionException.class, () -> open.get(LONG.toSeconds(), TimeUnit.SECONDS));
      assertInstanceOf(RedisUnavailableException.class, failure.getCause());
      proxy.refuse(false);
      try (WriterService writer = game.writer("w1")) {
        receipt.awaitDurable(LONG);
        assertEquals(Set.of(), other.drain(LONG));
      }
      assertEquals("1", game.queryText("SELECT COUNT(*) FROM pet WHERE name = 'v1'"));
    }
    assertEquals(List.of(), List.copyOf(conflicts));
  }

  /** An open of player 1 that has taken over in Redis, and waits until tables are unlocked. */
  private CompletableFuture<OwnerSession> openHeldMidway(GameQueue by, Statement holding)
      throws SQLException {
    byte[] own = ownKey().getBytes(US_ASCII);
    byte[] before = redis.sync().get(own);
    holding.execute("LOCK TABLES pet WRITE");
    CompletableFuture<OwnerSession> open = CompletableFuture.supplyAsync(() -> by.open("player:1"));
    await().atMost(LONG).until(() -> !Arrays.equals(before, redis.sync().get(own)));
    return open;
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
      assertEquals(0, JournalMarks.forgetDead(control, game.namespace, slots), "seen for a week");
      for (SlotKeys slot : slots) {
        for (byte[] field : redis.sync().hkeys(slot.journal())) {
          if (new String(field, US_ASCII).endsWith("@")) {
            redis.sync().hset(slot.journal(), field, SlotKeys.bytes("1000"));
          }
        }
      }
      assertEquals(Game.SLOTS, JournalMarks.forgetDead(control, game.namespace, slots));
      assertEquals(0, JournalMarks.forgetDead(control, game.namespace, slots));
    }
  }

  @Test
  void aSessionThatMySqlLostIsWrittenAgain() throws Exception {
    try (GameQueue queue = nodeBehindProxy("n1")) {
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
