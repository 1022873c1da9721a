package io.gameq.writer;

import static io.gameq.servers.Waits.LONG;
import static org.awaitility.Awaitility.await;

import io.gameq.CommitReceipt;
import io.gameq.GameQueue;
import io.gameq.OwnerSession;
import io.gameq.servers.FaultProxy;
import io.gameq.servers.GameDatabase;
import io.gameq.servers.TestServers;
import io.gameq.writer.service.WriterService;
import io.lettuce.core.api.sync.RedisCommands;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Isolated;

/** What does not fit into Redis or through to MySQL for a while waits, and holds up nobody. */
@Isolated("it changes the servers' settings")
class ServerLimitsTest {

  record Pet(long id, long playerId, String name) {}

  @TempDir Path walDirectory;

  private final RedisCommands<String, String> redis = TestServers.redis().sync();
  private Game game;

  @BeforeEach
  void start() throws Exception {
    game =
        new Game(
            GameDatabase.create("limits")
                .table(
                    "pet",
                    "player",
                    "player_id",
                    "id BIGINT NOT NULL PRIMARY KEY, player_id BIGINT NOT NULL, name VARCHAR(20)"
                        + " NOT NULL, KEY (player_id)")
                .table(
                    "picture",
                    "player",
                    "player_id",
                    "id BIGINT NOT NULL PRIMARY KEY, player_id BIGINT NOT NULL, data LONGBLOB NOT"
                        + " NULL, KEY (player_id)"),
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

  @Test
  void aCommitWhoseReplyWasLostIsNotCalledFailedBecauseRedisIsFullNow() throws Exception {
    try (FaultProxy proxy = FaultProxy.ofRedis();
        GameQueue queue = GameQueue.open(game.config("n1").redis(proxy.uri()).build())) {
      OwnerSession player = queue.open("player:1");
      proxy.dropReplies();
      CommitReceipt receipt = commit(player, new Pet(1, 1, "v1"));
      await().atMost(LONG).until(() -> redis.keys("{" + game.namespace + ":*:dirty:*").size() == 1);
      redis.configSet("maxmemory", "1");
      proxy.heal();
      proxy.cut();
      await().during(Duration.ofSeconds(1)).until(() -> !receipt.queued().isDone());
      redis.configSet("maxmemory", "0");
      receipt.awaitQueued(LONG);
    }
  }

  @Test
  void aRowTooLongForTheServerWaitsWithoutHoldingUpOthers() throws Exception {
    String before = game.queryText("SELECT @@GLOBAL.max_allowed_packet");
    game.database.server().execute("SET GLOBAL max_allowed_packet = 1048576");
    try (GameQueue queue = game.node("n1")) {
      OwnerSession player = queue.open("player:1");
      byte[] data = new byte[1_500_000];
      player.put("picture", Map.of("id", 1, "player_id", 1, "data", data));
      CommitReceipt large = player.commit();
      try (Game small = new Game(game.database, walDirectory, game.namespace)) {
        WriterService writer = small.writer("w1");
        commit(queue.open("player:2"), new Pet(1, 2, "v1")).awaitDurable(LONG);
        await().atMost(LONG).until(() -> writer.stats().givenBack() > 0);
        writer.close();
      }
      game.database.server().execute("SET GLOBAL max_allowed_packet = " + before);
      try (Game enough = new Game(game.database, walDirectory, game.namespace);
          WriterService writer = enough.writer("w2")) {
        large.awaitDurable(LONG);
      }
    } finally {
      game.database.server().execute("SET GLOBAL max_allowed_packet = " + before);
    }
  }
}
