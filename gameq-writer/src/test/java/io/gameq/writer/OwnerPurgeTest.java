package io.gameq.writer;

import static io.gameq.servers.Waits.LONG;
import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.gameq.GameQueue;
import io.gameq.OwnerSession;
import io.gameq.mysql.tables.OwnerTable;
import io.gameq.owner.OwnerId;
import io.gameq.owner.SessionId;
import io.gameq.redis.ControlConnection;
import io.gameq.redis.RedisClock;
import io.gameq.redis.SlotKeys;
import io.gameq.redis.Slots;
import io.gameq.servers.MySqlServer;
import io.gameq.writer.mysql.OldOwners;
import io.gameq.writer.mysql.OldOwners.OldOwner;
import io.gameq.writer.service.WriterService;
import io.gameq.writer.service.WriterUpkeep.OwnerPurge;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

@Execution(ExecutionMode.CONCURRENT)
class OwnerPurgeTest extends RedisLossFixture {
  private static final Duration KEPT = Duration.ofDays(30);
  private static final OwnerId PLAYER = OwnerId.of("player:1");
  private static final String OWNER = "player%3A1";

  private MySqlServer server;
  private OwnerTable owners;
  private SlotKeys slot;
  private String nodes;

  @BeforeEach
  void beginWithNothing() {
    server = game.database.server();
    owners = new OwnerTable(game.mysql);
    slot = new Slots(game.namespace, Game.SLOTS).of(PLAYER);
    nodes = game.namespace + ":nodes";
  }

  /** As 30 days after: nodes have given signs of life, and the keys of closed sessions expired. */
  private void passTime() throws SQLException {
    redis.sync().set(SlotKeys.bytes(nodes), SlotKeys.bytes("1"));
    server.execute("UPDATE gameq_owner SET opened_at = '2020-01-01'");
    for (byte[] key : redis.sync().keys("{" + game.namespace + ":*:own:*")) {
      if (redis.sync().pttl(key) >= 0) {
        redis.sync().del(key);
      }
    }
  }

  private void play(int times) {
    for (int time = 1; time <= times; time++) {
      try (GameQueue queue = game.node("n1");
          WriterService writer = game.writer("w1")) {
        OwnerSession session = queue.open("player:1");
        queued(session, new Pet(1, 1, "v" + time));
        assertEquals(Set.of(), queue.drain(LONG));
        session.close();
      }
    }
  }

  private long purge() {
    try (ControlConnection control = new ControlConnection(connector);
        OwnerPurge purge =
            new OwnerPurge(game.mysql, control, new Slots(game.namespace, Game.SLOTS), KEPT)) {
      return purge.purge();
    }
  }

  private String left() throws SQLException {
    return game.queryText(
        "SELECT COALESCE(GROUP_CONCAT(owner, ' ', epoch ORDER BY owner), '') FROM gameq_owner");
  }

  private SessionId session() {
    return Objects.requireNonNull(owners.current(List.of(PLAYER)).get(PLAYER)).newest();
  }

  @Test
  void whoComesBackAfterThePurgeHasHisRowsAndAnEpochAboveAllBefore() throws Exception {
    play(3);
    assertEquals(0, purge(), "opened lately");
    passTime();
    assertEquals(1, purge());
    assertEquals("", left());
    try (GameQueue queue = game.node("n1")) {
      OwnerSession session = queue.open("player:1");
      assertEquals(List.of(new Pet(1, 1, "v3")), session.rows(Pet.class));
      session.close();
    }
    assertEquals(OWNER + " 4", left());
    passTime();
    assertEquals(1, purge());
    assertEquals(new SessionId(5, "aaaaaaaa00000001"), raiseAfterNothing("aaaaaaaa00000001"));
  }

  private SessionId raiseAfterNothing(String nonce) {
    return Objects.requireNonNull(owners.raiseAfter(null, PLAYER, nonce, "n1", 0));
  }

  @Test
  void anOwnerIsKeptAsLongAsAnythingInMySqlNeedsIt() throws Exception {
    play(1);
    passTime();
    String process = session().nonce().substring(0, 8);
    for (String needs :
        List.of(
            "gameq_dead_letter VALUES (1, '%s', 'pet', '1', 3, '', 0, '', 1, UTC_TIMESTAMP(3))",
            "gameq_tombstone VALUES ('pet', '2', '%s', 7, UTC_TIMESTAMP(3))",
            "gameq_discard VALUES ('pet', '2', '', '%s', 7, UTC_TIMESTAMP(3))",
            "gameq_handover VALUES ('pet', '2', '%s', 7, TRUE, 1, 'a', UTC_TIMESTAMP(3))",
            "gameq_node VALUES ('" + process + "', 'n1', 'host', 1, '/wal', '2020-01-01')")) {
      server.execute("INSERT INTO " + needs.formatted(OWNER));
      assertEquals(0, purge(), needs);
      server.execute("DELETE FROM " + needs.substring(0, needs.indexOf(' ')));
    }
    assertEquals(1, purge());
  }

  @Test
  void anOwnerIsKeptAsLongAsRedisHoldsAnythingOfIt() throws Exception {
    play(1);
    passTime();
    byte[] field = SlotKeys.bytes("field");
    byte[] owner = SlotKeys.bytes(OWNER);
    SessionId session = session();
    SessionId lost = new SessionId(0x1234, "aaaaaaaa00000001");
    for (byte[] hash :
        List.of(
            slot.claimed(PLAYER),
            slot.dirty(PLAYER, session),
            slot.inboxes(PLAYER),
            SlotKeys.bytes(slot.prefix() + ":own:" + OWNER))) {
      redis.sync().hset(hash, field, field);
      assertEquals(0, purge(), new String(hash, US_ASCII));
      redis.sync().del(hash);
    }
    for (String set : List.of(":closing", ":healing", ":stale")) {
      byte[] key = SlotKeys.bytes(slot.prefix() + set);
      redis.sync().sadd(key, set.equals(":stale") ? slot.dirty(PLAYER, lost) : owner);
      assertEquals(0, purge(), set);
      redis.sync().del(key);
      redis.sync().set(key, owner); // somebody else's value
      assertEquals(0, purge(), set);
      redis.sync().del(key);
    }
    assertEquals(1, purge());
  }

  @Test
  void nobodyGoesWhileRedisMayHaveLostWhoIsOpen() throws Exception {
    play(1);
    passTime();
    redis.sync().del(SlotKeys.bytes(nodes));
    assertEquals(0, purge(), "no node is alive");
    long minutes = RedisClock.now(redis) - Duration.ofMinutes(59).toMillis();
    redis.sync().set(SlotKeys.bytes(nodes), SlotKeys.bytes(Long.toString(minutes)));
    assertEquals(0, purge(), "nodes healed lately");
    long hours = RedisClock.now(redis) - Duration.ofMinutes(61).toMillis();
    redis.sync().set(SlotKeys.bytes(nodes), SlotKeys.bytes(Long.toString(hours)));
    assertEquals(1, purge());
  }

  @Test
  void ofANodeThatIsAliveWhoIsOpenIsKeptAndWhoWasClosedGoes() throws Exception {
    try (GameQueue queue = game.node("n1");
        WriterService writer = game.writer("w1")) {
      OwnerSession held = queue.open("player:3");
      queue.open("player:1").close();
      await()
          .atMost(LONG)
          .until(
              () -> {
                passTime(); // again, where the node said only now that it has healed
                return purge() == 1;
              });
      assertEquals("player%3A3 1", left());
      assertEquals(0, purge());
      assertFalse(held.lost().toCompletableFuture().isDone());
      redis.sync().del(SlotKeys.bytes(slotOf("player:3").prefix() + ":own:player%3A3"));
      redis.sync().del(SlotKeys.bytes(nodes)); // and somebody emptied it
      assertEquals(0, purge());
    }
  }

  @Test
  void aSessionThatItsNodeLeftOpenIsClosedOnceTheNodeIsGoneForGood() throws Exception {
    try (GameQueue queue = game.node("n1")) {
      assertEquals(List.of(), queue.open("player:1").rows(Pet.class));
      passTime();
      assertEquals(0, purge());
      assertEquals(-1, redis.sync().pttl(slot.own(PLAYER)), "its node is alive");
    }
    String process = session().nonce().substring(0, 8);
    String noted = "gameq_node VALUES ('%s', 'n1', 'host', 1, '/wal', '2020-01-01')";
    server.execute("INSERT INTO " + noted.formatted(process));
    assertEquals(0, purge());
    assertEquals(-1, redis.sync().pttl(slot.own(PLAYER)), "its WAL is still there");
    server.execute("DELETE FROM gameq_node");
    assertEquals(0, purge());
    assertTrue(redis.sync().pttl(slot.own(PLAYER)) > 0);
    passTime();
    assertEquals(1, purge());
  }

  private SlotKeys slotOf(String owner) {
    return new Slots(game.namespace, Game.SLOTS).of(OwnerId.of(owner));
  }

  /** As by a writer which took the node for gone for good. */
  @Test
  void aSessionWhoseOwnerWasPurgedIsLostAndTheNextOneAdoptsWhatItLeft() throws Exception {
    try (GameQueue queue = nodeBehindProxy("n1");
        GameQueue other = game.node("n2")) {
      OwnerSession first = queue.open("player:1");
      OwnerSession second = queue.open("player:2");
      SessionId old = session();
      server.execute(
          "UPDATE gameq_owner SET opened_at = '2020-01-01' WHERE owner = '" + OWNER + "'");
      OldOwners purge = new OldOwners(game.mysql, KEPT);
      assertEquals(1, purge.remove(purge.next(null, 10)));
      queued(first, new Pet(1, 1, "late"));
      queued(second, new Pet(2, 2, "v1"));
      try (WriterService writer = game.writer("w1")) {
        assertEquals(Set.of("pet:1"), queue.drain(Duration.ofSeconds(3)));
        assertEquals("2", game.queryText("SELECT GROUP_CONCAT(id) FROM pet"), "not flushed");
        assertEquals("player%3A2 1", left(), "not restored by the writer");
        proxy.cut();
        await().atMost(LONG).until(first.lost().toCompletableFuture()::isDone);
        assertFalse(owners.restore(PLAYER, old));
        assertEquals("player%3A2 1", left(), "not restored by the node");
        assertEquals(
            List.of(new Pet(1, 1, "late")), other.open("player:1").rows(Pet.class), "adopted");
        assertEquals(2, session().epoch());
        await().atMost(LONG).until(() -> "2".equals(game.queryText("SELECT COUNT(*) FROM pet")));
      }
    }
    assertEquals(List.of(), List.copyOf(conflicts));
  }

  @Test
  void anOpenThatWaitsForAPurgeBeginsAboveIt() throws Exception {
    SessionId before = owners.raise(PLAYER, "aaaaaaaa00000001", "n1", 40);
    assertEquals(40, before.epoch());
    server.execute(
        "UPDATE gameq_owner SET opened_at = '2020-01-01'",
        "INSERT INTO gameq_setting VALUES ('" + OwnerTable.PURGED_EPOCH + "', '7')");
    OldOwners purge = new OldOwners(game.mysql, KEPT);
    List<OldOwner> old = purge.next(null, 10);
    CompletableFuture<Integer> purged;
    CompletableFuture<SessionId> opened;
    try (Connection holder = server.connect()) {
      holder.setAutoCommit(false);
      holder
          .createStatement()
          .executeQuery(
              "SELECT * FROM gameq_setting WHERE name = '%s' FOR UPDATE"
                  .formatted(OwnerTable.PURGED_EPOCH));
      purged = CompletableFuture.supplyAsync(() -> purge.remove(old)); // has the owner, waits here
      await()
          .atMost(LONG)
          .until(
              () ->
                  game.queryText(
                          "SELECT COUNT(*) FROM (SELECT 1 FROM gameq_owner FOR UPDATE SKIP LOCKED)"
                              + " free")
                      .equals("0"));
      opened =
          CompletableFuture.supplyAsync(() -> owners.raise(PLAYER, "aaaaaaaa00000002", "n1", 0));
      await()
          .atMost(LONG)
          .until(
              () ->
                  !game.queryText(
                          "SELECT COUNT(*) FROM information_schema.INNODB_TRX WHERE trx_state ="
                              + " 'LOCK WAIT' AND trx_query LIKE '%gameq_owner%'")
                      .equals("0"));
      holder.rollback();
    }
    assertEquals(1, purged.join());
    assertEquals(new SessionId(41, "aaaaaaaa00000002"), opened.join());
    assertEquals("41", server.queryText("SELECT epoch FROM gameq_owner"));
  }

  @Test
  void aPurgeLeavesWhoIsBeingOpened() throws Exception {
    SessionId unused = owners.raise(PLAYER, "aaaaaaaa00000001", "n1", 0);
    server.execute("UPDATE gameq_owner SET opened_at = '2020-01-01'");
    OldOwners purge = new OldOwners(game.mysql, KEPT);
    List<OldOwner> old = purge.next(null, 10);
    try (Connection opening = server.connect()) {
      opening.setAutoCommit(false);
      OwnerTable.lock(opening, List.of(PLAYER));
      assertEquals(0, purge.remove(old), "waits for nobody");
      opening.rollback();
    }
    SessionId next = owners.raise(PLAYER, "aaaaaaaa00000002", "n1", 0);
    assertEquals(0, purge.remove(old));
    assertEquals(next, session());
  }

  @Test
  void whatIsSentToAPurgedOwnerOpensNothingAndItsNextSessionIsAboveAllBefore() throws Exception {
    play(2);
    passTime();
    assertEquals(1, purge());
    try (GameQueue queue = game.node("n1");
        WriterService writer = game.writer("w1")) {
      queue.send("player:1", new Pet(9, 1, "mail")).awaitDurable(LONG);
      assertEquals(OWNER + " 2", left());
      assertTrue(OwnerTable.isNeverOpened(session()));
      assertFalse(owners.restore(PLAYER, new SessionId(2, "aaaaaaaa00000001")));
      assertEquals(2, queue.open("player:1").rows(Pet.class).size());
      assertEquals(OWNER + " 3", left());
    }
  }
}
