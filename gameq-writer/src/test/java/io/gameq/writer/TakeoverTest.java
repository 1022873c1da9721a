package io.gameq.writer;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.gameq.GameQueue;
import io.gameq.GameQueueException;
import io.gameq.OwnerHeldException;
import io.gameq.OwnerSession;
import io.gameq.Takeover;
import io.gameq.owner.OwnerId;
import io.gameq.redis.RedisConfig;
import io.gameq.redis.RedisConnector;
import io.gameq.redis.SlotKeys;
import io.gameq.servers.GameDatabase;
import io.gameq.servers.MySqlServer;
import io.gameq.servers.RedisProxy;
import io.gameq.servers.TestServers;
import io.gameq.writer.campaign.FaultProxy;
import io.lettuce.core.SetArgs;
import io.lettuce.core.api.sync.RedisCommands;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** {@link Takeover#UNLESS_ALIVE}: whom it lets in, and whom not. */
@Execution(ExecutionMode.CONCURRENT)
class TakeoverTest {
  private static final Duration LONG = Duration.ofSeconds(30);

  record Pet(long id, long playerId, String name) {}

  @TempDir Path walDirectory;

  private final RedisConnector connector =
      new RedisConnector(new RedisConfig(TestServers.redisUri(), null, 5_000));
  private final RedisCommands<byte[], byte[]> redis = connector.open().sync();
  private final RedisProxy proxy = new RedisProxy();
  private Game game;

  @BeforeEach
  void start() throws Exception {
    game =
        new Game(
            GameDatabase.create("takeover")
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
      proxy.refuse(true);
      proxy.cut();
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
                redis.keys(game.namespace + ":node*").forEach(redis::del);
                OwnerHeldException held =
                    assertThrows(OwnerHeldException.class, () -> openUnlessAlive(two));
                assertTrue(
                    String.valueOf(held.getMessage()).contains("may be alive"), held::getMessage);
              });
      assertTrue(redis.pttl(signs()) > 0);
    }
  }

  @Test
  void aNodeThatCannotHealForWantOfMySqlCountsAsAlive() throws Exception {
    try (FaultProxy fault = new FaultProxy(game.database.server().port())) {
      MySqlServer mysql = game.database.server().through(fault.port());
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
        redis.del(SlotKeys.all(game.namespace, Game.SLOTS)[owner.slot(Game.SLOTS)].own(owner));
        redis.keys(game.namespace + ":node:*").forEach(redis::del);
        await()
            .atMost(LONG)
            .until(() -> redis.keys(game.namespace + ":node:*").size() == 2); // signs of life
        redis.set(signs(), "1".getBytes(US_ASCII), SetArgs.Builder.ex(60));
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
