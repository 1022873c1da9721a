package io.gameq.writer;

import static io.gameq.servers.Waits.LONG;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.gameq.ClosedException;
import io.gameq.CommitReceipt;
import io.gameq.CommitUnknownException;
import io.gameq.GameQueue;
import io.gameq.GameQueueException;
import io.gameq.OwnerSession;
import io.gameq.OwnershipLostException;
import io.gameq.RedisUnavailableException;
import io.gameq.RollbackRequiredException;
import io.gameq.config.WhenCommitFails;
import io.gameq.mysql.tables.OwnerTable;
import io.gameq.owner.OwnerId;
import io.gameq.servers.FaultProxy;
import io.gameq.servers.GameDatabase;
import io.gameq.servers.TestServers;
import io.gameq.wal.WalReader;
import io.gameq.wal.WalRecord;
import io.gameq.writer.service.WriterService;
import io.lettuce.core.api.sync.RedisCommands;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.api.parallel.ResourceLock;
import org.junit.jupiter.api.parallel.Resources;

/**
 * Late packets, lost replies, sessions closed or lost at the wrong moment: nothing acknowledged is
 * lost and nothing goes back.
 */
@Tag("long")
@Execution(ExecutionMode.CONCURRENT)
class OrdinaryFaultsTest {

  record Pet(long id, long playerId, String name) {}

  @TempDir Path walDirectory;

  private final RedisCommands<String, String> redis = TestServers.redis().sync();
  private final FaultProxy proxy = FaultProxy.ofRedis();
  private Game game;

  @BeforeEach
  void start() throws Exception {
    GameDatabase database =
        GameDatabase.create("faults")
            .table(
                "pet",
                "player",
                "player_id",
                "id BIGINT NOT NULL PRIMARY KEY, player_id BIGINT NOT NULL, name VARCHAR(20) NOT"
                    + " NULL, KEY (player_id)")
            .table(
                "picture",
                "player",
                "player_id",
                "id BIGINT NOT NULL PRIMARY KEY, player_id BIGINT NOT NULL, data LONGBLOB NOT NULL,"
                    + " KEY (player_id)");
    game = new Game(database, walDirectory);
  }

  @AfterEach
  void stop() throws IOException {
    proxy.close();
    game.close();
  }

  private GameQueue nodeBehindProxy() {
    return GameQueue.open(game.config("n1").redis(proxy.uri()).build());
  }

  private static CommitReceipt commit(OwnerSession session, Pet pet) {
    session.put(pet);
    return session.commit();
  }

  private List<String> keys(String part) {
    return redis.keys("{" + game.namespace + ":*" + part + "*");
  }

  private List<String> wals() throws IOException {
    try (Stream<Path> files = Files.list(walDirectory)) {
      return files.map(file -> file.getFileName().toString().substring(0, 2)).sorted().toList();
    }
  }

  @Test
  void bytesOfAGivenUpConnectionThatArriveLateChangeNothing() throws Exception {
    try (GameQueue reader = game.node("n2");
        GameQueue queue = nodeBehindProxy()) {
      OwnerSession player = queue.open("player:1");
      commit(player, new Pet(1, 1, "v0")).awaitQueued(LONG);
      proxy.holdRequests();
      commit(player, new Pet(1, 1, "v1")).awaitQueued(LONG);
      commit(player, new Pet(1, 1, "v2")).awaitQueued(LONG);
      proxy.releaseHeld();
      await()
          .during(Duration.ofMillis(300))
          .until(() -> reader.read("player:1", Pet.class).equals(List.of(new Pet(1, 1, "v2"))));
      try (WriterService writer = game.writer("w1")) {
        assertEquals(Set.of(), player.awaitDurable(LONG));
        assertEquals("v2", game.queryText("SELECT name FROM pet"));
      }
    }
  }

  @Test
  void anOpenWhoseConnectionToRedisBreaksAfterItsEpochWasRaisedFailsAndTakesNothing()
      throws Exception {
    try (GameQueue queue = nodeBehindProxy();
        GameQueue holder = game.node("n2");
        WriterService writer = game.writer("w1");
        Connection holding = game.database.server().connect()) {
      OwnerSession player = holder.open("player:1");
      holding.setAutoCommit(false);
      try (Statement statement = holding.createStatement()) {
        statement.executeQuery("SELECT * FROM gameq_owner FOR UPDATE").close();
      }
      CompletableFuture<OwnerSession> open =
          CompletableFuture.supplyAsync(() -> queue.open("player:1"));
      await().atMost(LONG).until(game.database.server()::hasLockWait);
      proxy.cut();
      holding.rollback();
      ExecutionException failed =
          assertThrows(
              ExecutionException.class, () -> open.get(LONG.toSeconds(), TimeUnit.SECONDS));
      assertInstanceOf(RedisUnavailableException.class, failed.getCause());
      commit(player, new Pet(1, 1, "v1")).awaitDurable(LONG);
      await().ignoreExceptions().until(() -> queue.open("player:1") != null);
      assertThrows(
          OwnershipLostException.class,
          () -> commit(player, new Pet(1, 1, "v2")).awaitQueued(LONG));
    }
  }

  @Test
  void closingRightAfterACommitKeepsTheOwnKeyWhileRowsAreDirty() throws Exception {
    try (GameQueue queue = game.node("n1")) {
      for (int i = 1; i <= 50; i++) {
        OwnerSession player = queue.open("player:" + i);
        commit(player, new Pet(i, i, "x"));
        player.close();
      }
      assertEquals(50, keys(":dirty:").size());
      assertEquals(List.of(), keys(":own:").stream().filter(key -> redis.pttl(key) > 0).toList());
    }
  }

  @Test
  void halfOfAMoveIsNeverCommittedAndTheSessionsStillClose() throws Exception {
    try (GameQueue queue = game.node("n1")) {
      OwnerSession a = queue.open("player:1");
      OwnerSession b = queue.open("player:2");
      commit(a, new Pet(7, 1, "Rex")).awaitQueued(LONG);
      a.move(new Pet(7, 2, "Rex"), b);
      assertThrows(GameQueueException.class, b::commit);
      assertThrows(GameQueueException.class, b::close);
      assertThrows(GameQueueException.class, a::close);
      a.close();
      assertEquals(List.of(new Pet(7, 1, "Rex")), queue.read("player:1", Pet.class));
      assertEquals(List.of(), queue.read("player:2", Pet.class));
      assertThrows(GameQueueException.class, () -> a.put(new Pet(8, 1, "late")));
    }
  }

  @Test
  void aSessionThatIsLostAndClosedStillWaitsForMySqlAndKeepsItsWal() throws Exception {
    GameQueue one = game.node("n1");
    GameQueue two = game.node("n2");
    OwnerSession old = one.open("player:1");
    CommitReceipt queued = commit(old, new Pet(1, 1, "v1"));
    queued.awaitQueued(LONG);
    OwnerSession successor = two.open("player:1");
    assertThrows(
        OwnershipLostException.class, () -> commit(old, new Pet(2, 1, "no")).awaitQueued(LONG));
    old.close();
    assertEquals(Set.of("pet:1"), one.drain(Duration.ofMillis(100)));
    assertEquals(Set.of("pet:1"), successor.notDurable(), "adopted rows are waited for");
    try (WriterService writer = game.writer("w1")) {
      assertEquals(Set.of(), successor.awaitDurable(LONG));
      queued.awaitDurable(LONG);
    }
    one.close();
    two.close();
    assertEquals(List.of(), wals());
  }

  @Test
  void theWalIsKeptWhileAdoptedRowsAreNotInMySql() throws Exception {
    GameQueue one = game.node("n1");
    commit(one.open("player:1"), new Pet(1, 1, "v1")).awaitQueued(LONG);
    GameQueue two = game.node("n2");
    two.open("player:1");
    two.close();
    one.close();
    assertEquals(List.of("n1", "n2"), wals());
  }

  @Test
  void aCommitOfAClosedSessionDoesNotHoldUpTheNode() throws Exception {
    try (GameQueue queue = nodeBehindProxy()) {
      OwnerSession a = queue.open("player:1");
      OwnerSession b = queue.open("player:2");
      proxy.refuse(true);
      proxy.cut();
      CommitReceipt first = commit(a, new Pet(1, 1, "v1"));
      assertThrows(GameQueueException.class, a::close);
      keys("").forEach(redis::del); // Redis comes back empty
      proxy.refuse(false);
      first.awaitQueued(LONG);
      commit(b, new Pet(2, 2, "v1")).awaitQueued(LONG);
      assertEquals(List.of(new Pet(1, 1, "v1")), queue.read("player:1", Pet.class));
    }
  }

  @Test
  void closingTheNodeWhileRedisIsAwayAnswersEveryCommit() throws Exception {
    GameQueue queue = nodeBehindProxy();
    OwnerSession player = queue.open("player:1");
    proxy.refuse(true);
    proxy.cut();
    CommitReceipt receipt = commit(player, new Pet(1, 1, "v1"));
    queue.close();
    assertThrows(CommitUnknownException.class, () -> receipt.awaitQueued(LONG));
    assertThrows(GameQueueException.class, () -> commit(player, new Pet(2, 1, "v1")));
    assertEquals(List.of("n1"), wals());
  }

  @Test
  void aWrongTypeFailsItsOwnCommitsOnly() throws Exception {
    try (GameQueue queue =
        GameQueue.open(game.config("n1").whenCommitFails(WhenCommitFails.CONTINUE).build())) {
      OwnerSession a = queue.open("player:1");
      OwnerSession b = queue.open("player:2");
      String own =
          keys(":own:").stream().filter(key -> key.endsWith("3A1")).findFirst().orElseThrow();
      redis.set(own.replace(":own:", ":dirty:") + ":" + redis.get(own), "not a hash");
      List<CommitReceipt> failing = new ArrayList<>();
      List<CommitReceipt> passing = new ArrayList<>();
      for (int i = 0; i < 200; i++) {
        failing.add(commit(a, new Pet(1_000 + i, 1, "a")));
        passing.add(commit(b, new Pet(2_000 + i, 2, "b")));
      }
      passing.forEach(receipt -> receipt.awaitQueued(LONG));
      failing.forEach(
          receipt -> assertThrows(GameQueueException.class, () -> receipt.awaitQueued(LONG)));
    }
  }

  @Test
  void anOpenWhoseNodeDiedIsFinishedByAWriter() throws Exception {
    try (GameQueue queue = game.node("n1");
        WriterService writer = game.writer("w1", 1_000)) {
      OwnerSession player = queue.open("player:1");
      game.database
          .server()
          .execute(
              "UPDATE gameq_owner SET epoch = epoch + 1, nonce = 'deaddeaddeaddead', node = 'gone',"
                  + " state = 'opening', opened_at = UTC_TIMESTAMP(3)");
      commit(player, new Pet(1, 1, "v1")).awaitQueued(LONG);
      await().atMost(LONG).until(() -> game.queryText("SELECT COUNT(*) FROM pet").equals("1"));
      assertThrows(
          OwnershipLostException.class,
          () -> commit(player, new Pet(2, 1, "v1")).awaitQueued(LONG));
    }
  }

  @Test
  void opensThatFailBeforeTheyReachRedisTakeNothingFromTheSessionThatIsOpen() throws Exception {
    try (GameQueue queue = nodeBehindProxy();
        WriterService writer = game.writer("w1", 1_000)) {
      OwnerSession player = queue.open("player:1");
      OwnerTable owners = new OwnerTable(game.mysql);
      for (String nonce : List.of("deaddeaddeaddea1", "deaddeaddeaddea2")) { // two nodes died
        owners.raise(OwnerId.of("player:1"), nonce, "gone", 0);
      }
      commit(player, new Pet(1, 1, "v1")).awaitDurable(LONG);
      game.database.server().execute("UPDATE gameq_owner SET opened_at = '2020-01-01'");
      proxy.cut(); // it heals
      commit(player, new Pet(1, 1, "v2")).awaitDurable(LONG);
      assertEquals("v2", game.queryText("SELECT name FROM pet"));
      assertEquals(List.of(new Pet(1, 1, "v2")), queue.open("player:1").rows(Pet.class));
      assertEquals(
          "open",
          game.queryText("SELECT CONCAT(state, COALESCE(before_epoch, '')) FROM gameq_owner"));
    }
  }

  @Test
  void aTradeWithAClosedSessionIsRefusedAndNoHalfOfItIsCommitted() throws Exception {
    try (GameQueue queue = game.node("n1")) {
      OwnerSession a = queue.open("player:1");
      OwnerSession b = queue.open("player:2");
      b.put(new Pet(2, 2, "x"));
      b.close();
      a.put(new Pet(3, 1, "precious"));
      assertThrows(ClosedException.class, () -> queue.commit(a, b));
      assertThrows(RollbackRequiredException.class, a::commit);
      assertEquals(List.of(), queue.read("player:1", Pet.class));
      a.rollback();
      commit(a, new Pet(3, 1, "precious")).awaitQueued(LONG);
      assertEquals(List.of(new Pet(3, 1, "precious")), queue.read("player:1", Pet.class));
    }
  }

  @Test
  void anOwnerWithMoreUnflushedThanOneWalRecordHoldsIsTakenOver() throws Exception {
    try (GameQueue one = game.node("n1");
        GameQueue two = game.node("n2")) {
      OwnerSession first = one.open("player:1");
      for (int i = 0; i < 16; i++) {
        first.put("picture", Map.of("id", i, "player_id", 1, "data", new byte[2_000_000]));
        first.commit().awaitQueued(LONG);
      }
      OwnerSession second = two.open("player:1");
      assertEquals(16, second.rows("picture").size());
      commit(second, new Pet(1, 1, "after")).awaitQueued(LONG);
      List<WalRecord> records = new ArrayList<>();
      try (Stream<Path> files = Files.list(walDirectory)) {
        Path wal =
            files
                .filter(file -> file.getFileName().toString().startsWith("n2"))
                .findFirst()
                .orElseThrow();
        WalReader.read(wal, entry -> records.add(entry.record()));
      }
      assertEquals(
          16,
          records.stream()
              .filter(WalRecord.Adopted.class::isInstance)
              .mapToInt(r -> ((WalRecord.Adopted) r).part().rows().size())
              .sum());
      assertTrue(records.get(records.size() - 1) instanceof WalRecord.Committed);
      assertFalse(records.isEmpty());
    }
  }

  @Test
  void aCommitThatRedisTookInPartIsNotCalledFailed() {
    try (GameQueue queue = game.node("n1")) {
      OwnerSession player = queue.open("player:1");
      int slot = OwnerId.of("player:1").slot(Game.SLOTS);
      redis.set("{" + game.namespace + ":" + slot + "}:due", "not a sorted set");
      CommitReceipt taken = commit(player, new Pet(1, 1, "x"));
      assertThrows(CommitUnknownException.class, () -> taken.awaitQueued(LONG));
      redis.del("{" + game.namespace + ":" + slot + "}:due");
      CommitReceipt next = commit(queue.open("player:1"), new Pet(1, 1, "y"));
      try (WriterService writer = game.writer("w1")) {
        next.awaitDurable(LONG);
      }
    }
  }

  @Test
  @ResourceLock(Resources.GLOBAL) // alone: else so short a lease runs out for want of a processor
  void aSlowFlushKeepsItsClaim() throws Exception {
    game.database
        .server()
        .execute(
            "CREATE TRIGGER slow BEFORE INSERT ON pet FOR EACH ROW IF NEW.name = 'y' THEN DO"
                + " SLEEP(1.5); END IF");
    try (GameQueue queue = game.node("n1");
        WriterService slow = game.writer("slow", 600)) {
      OwnerSession player = queue.open("player:1");
      CommitReceipt receipt = commit(player, new Pet(1, 1, "y"));
      await().atMost(LONG).until(() -> !keys("claimed").isEmpty());
      try (WriterService other = game.writer("other", 600)) {
        receipt.awaitDurable(LONG);
        assertEquals(0, other.stats().reaped());
        assertEquals(0, slow.stats().reaped());
      }
    }
  }

  @Test
  void aFlushedScriptCacheIsNoFault() {
    try (WriterService writer = game.writer("w1");
        GameQueue queue = game.node("n1")) {
      for (int i = 0; i < 4; i++) {
        OwnerSession player = queue.open("player:1");
        OwnerSession friend = queue.open("player:2");
        redis.scriptFlush();
        player.put(new Pet(1, 1, "a" + i));
        friend.put(new Pet(2, 2, "b" + i));
        CommitReceipt receipt = queue.commit(player, friend);
        redis.scriptFlush();
        receipt.awaitDurable(LONG);
      }
    }
  }

  @Test
  void hostileIdsAndKeysStayApart() throws Exception {
    game.database.table(
        "region",
        "region",
        "name",
        "name VARCHAR(80) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL PRIMARY KEY, n INT NOT"
            + " NULL");
    List<String> names =
        List.of(
            "a:b",
            "a",
            "b",
            "{1}",
            "}",
            "a\0b",
            "a\r\nb",
            "a b",
            "%3A",
            "a%3Ab",
            "\uD83D\uDC09",
            ",",
            "a,b",
            "*",
            "due",
            "'",
            "\\",
            "region:a",
            "x".repeat(80));
    try (WriterService writer = game.writer("w1");
        GameQueue queue = game.node("n1")) {
      List<CommitReceipt> receipts = new ArrayList<>();
      for (int i = 0; i < names.size(); i++) {
        OwnerSession region = queue.open("region:" + names.get(i));
        region.put("region", Map.of("name", names.get(i), "n", i));
        receipts.add(region.commit());
      }
      for (int i = 0; i < names.size(); i++) {
        assertEquals(
            (long) i, queue.read("region:" + names.get(i), "region").get(0).get("n"), names.get(i));
      }
      receipts.forEach(receipt -> receipt.awaitDurable(LONG));
      for (int i = 0; i < names.size(); i++) {
        List<io.gameq.Row> rows = queue.open("region:" + names.get(i)).rows("region");
        assertEquals(1, rows.size(), names.get(i));
        assertEquals((long) i, rows.get(0).get("n"), names.get(i));
      }
    }
    assertEquals(Integer.toString(names.size()), game.queryText("SELECT COUNT(*) FROM region"));
  }
}
