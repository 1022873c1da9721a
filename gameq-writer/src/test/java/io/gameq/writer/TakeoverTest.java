package io.gameq.writer;

import static io.gameq.servers.Waits.LONG;
import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.gameq.GameQueue;
import io.gameq.GameQueueException;
import io.gameq.OwnerHeldException;
import io.gameq.OwnerSession;
import io.gameq.config.Takeover;
import io.gameq.mysql.tables.OwnerTable;
import io.gameq.owner.OwnerId;
import io.gameq.owner.SessionId;
import io.gameq.redis.SlotKeys;
import io.gameq.redis.script.NodeSigns;
import io.gameq.redis.script.SessionScripts;
import io.gameq.rights.MySqlRights.Role;
import io.gameq.servers.FaultProxy;
import io.gameq.servers.MySqlServer;
import io.lettuce.core.SetArgs;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** {@link Takeover#UNLESS_ALIVE}: whom it lets in, and whom not. */
@Execution(ExecutionMode.CONCURRENT)
class TakeoverTest extends RedisLossFixture {
  private static OwnerSession openUnlessAlive(GameQueue queue) {
    return queue.open("player:1", Takeover.UNLESS_ALIVE);
  }

  private static void awaitFree(GameQueue queue) {
    await()
        .atMost(LONG)
        .ignoreException(OwnerHeldException.class)
        .until(
            () -> {
              openUnlessAlive(queue);
              return true;
            });
  }

  @Test
  void aLogoutWhileRedisIsAwayFreesTheOwnerOnceItIsBack() throws Exception {
    try (GameQueue one = GameQueue.open(game.config("n1").redis(proxy.uri()).build());
        GameQueue two = game.node("n2")) {
      OwnerSession player = one.open("player:1");
      cutOff();
      player.close();
      assertThrows(OwnerHeldException.class, () -> openUnlessAlive(two));
      proxy.refuse(false);
      awaitFree(two);
    }
  }

  @Test
  void anOpenThatFailedHalfWayFreesTheOwner() throws Exception {
    try (GameQueue one = game.node("n1");
        GameQueue two = game.node("n2")) {
      game.database
          .server()
          .execute("RENAME TABLE gameq_dead_letter TO away"); // read with the rows
      assertThrows(GameQueueException.class, () -> one.open("player:1"));
      game.database.server().execute("RENAME TABLE away TO gameq_dead_letter");
      awaitFree(two);
    }
  }

  @Test
  void aSessionThatItsLivingNodeDoesNotKnowDoesNotHoldTheOwner() throws Exception {
    try (GameQueue one = game.node("n1");
        GameQueue two = game.node("n2")) {
      OwnerId owner = OwnerId.of("player:1");
      SlotKeys slot = new SlotKeys(game.namespace, owner.slot(Game.SLOTS));
      one.open("player:1").close();
      String process =
          NodeSigns.process(Objects.requireNonNull(SessionScripts.session(redis, slot, owner)));
      // MySQL raised it, the answer was lost, and a writer finished the open.
      OwnerTable owners = new OwnerTable(game.mysql);
      SessionId unknown = owners.raise(owner, process + "00000001", "n1", 0);
      assertTrue(owners.markOpen(owner, unknown));
      SessionScripts.Outcome unused = SessionScripts.open(redis, slot, owner, unknown, 0, false);
      assertThrows(OwnerHeldException.class, () -> openUnlessAlive(two));
      awaitFree(two);
    }
  }

  /** Or it is that node's login which fails. */
  @Test
  void anOwnerThatAnotherNodeBeganToOpenAMomentAgoIsLeftToIt() throws Exception {
    try (GameQueue one = game.node("n1")) {
      OwnerId owner = OwnerId.of("player:1");
      one.open("player:1").close();
      SessionId begun = new OwnerTable(game.mysql).raise(owner, "aaaaaaaa00000001", "n2", 0);
      assertThrows(OwnerHeldException.class, () -> openUnlessAlive(one));
      assertEquals("" + begun.epoch(), game.queryText("SELECT epoch FROM gameq_owner"));
      awaitFree(one);
    }
  }

  @Test
  void ofTwoThatOpenAtTheSameMomentOneGetsTheOwner() throws Exception {
    ExecutorService threads = Executors.newFixedThreadPool(2);
    CyclicBarrier together = new CyclicBarrier(2);
    try (GameQueue one = game.node("n1");
        GameQueue two = game.node("n2")) {
      for (int id = 1; id <= 30; id++) {
        String owner = "player:" + id;
        List<Future<Boolean>> logins = new ArrayList<>();
        for (GameQueue node : List.of(one, two)) {
          Callable<Boolean> login =
              () -> {
                together.await();
                try {
                  node.open(owner, Takeover.UNLESS_ALIVE);
                  return true;
                } catch (OwnerHeldException e) {
                  return false;
                }
              };
          logins.add(threads.submit(login));
        }
        assertEquals(
            1, (logins.get(0).get() ? 1 : 0) + (logins.get(1).get() ? 1 : 0), "logins of " + owner);
      }
    } finally {
      threads.shutdownNow();
    }
  }

  @Test
  void nobodyIsTakenForGoneWhileNobodyCouldGiveASign() throws Exception {
    try (GameQueue one = game.node("n1");
        GameQueue two = game.node("n2")) {
      one.open("player:1");
      // As after a failover that took longer than a sign of life lasts.
      await()
          .atMost(LONG)
          .untilAsserted(
              () -> {
                redis.sync().keys(game.namespace + ":node*").forEach(redis.sync()::del);
                OwnerHeldException held =
                    assertThrows(OwnerHeldException.class, () -> openUnlessAlive(two));
                assertTrue(
                    String.valueOf(held.getMessage()).contains("may be alive"), held::getMessage);
              });
      assertTrue(redis.sync().pttl(signs()) > 0);
    }
  }

  @Test
  void aNodeThatCannotHealForWantOfMySqlCountsAsAlive() throws Exception {
    try (FaultProxy fault = new FaultProxy(game.database.server().port())) {
      MySqlServer mysql = game.database.as(Role.NODE).through(fault.port());
      try (GameQueue one =
              GameQueue.open(
                  game.config("n1")
                      .redis(proxy.uri())
                      .mysql(mysql.jdbcUrl(), mysql.user(), mysql.password())
                      .build());
          GameQueue two = game.node("n2")) {
        OwnerSession player = one.open("player:1");
        fault.refuse(true);
        fault.cut();
        proxy.cut();
        // As after a failover to a Redis that never heard of the session, long enough ago.
        OwnerId owner = OwnerId.of("player:1");
        redis
            .sync()
            .del(SlotKeys.all(game.namespace, Game.SLOTS)[owner.slot(Game.SLOTS)].own(owner));
        redis.sync().keys(game.namespace + ":node:*").forEach(redis.sync()::del);
        await()
            .atMost(LONG)
            .until(
                () -> redis.sync().keys(game.namespace + ":node:*").size() == 2); // signs of life
        redis.sync().set(signs(), "1".getBytes(US_ASCII), SetArgs.Builder.ex(60));
        OwnerHeldException held =
            assertThrows(OwnerHeldException.class, () -> openUnlessAlive(two));
        assertTrue(
            String.valueOf(held.getMessage()).contains("on node n1, which is alive"),
            held::getMessage);
        fault.refuse(false);
        player.put(new Pet(1, 1, "kept"));
        player.commit().awaitQueued(LONG);
        player.close();
        awaitFree(two);
      }
    }
  }

  private byte[] signs() {
    return (game.namespace + ":nodes").getBytes(US_ASCII);
  }
}
