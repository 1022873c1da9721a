package io.gameq.writer;

import static io.gameq.servers.Waits.LONG;

import io.gameq.CommitReceipt;
import io.gameq.Conflict;
import io.gameq.GameQueue;
import io.gameq.OwnerSession;
import io.gameq.config.GameQueueConfigBuilder;
import io.gameq.redis.RedisConnection;
import io.gameq.redis.RedisConnector;
import io.gameq.redis.RedisConnector.RedisConfig;
import io.gameq.servers.FaultProxy;
import io.gameq.servers.GameDatabase;
import io.gameq.servers.TestServers;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;

/**
 * A game of players with pets, whose nodes reach Redis by way of a proxy: it can cut them off, and
 * Redis can lose what it held. What nodes report as conflicts is collected. Extended by the tests
 * of what happens then.
 */
abstract class RedisLossFixture {

  record Pet(long id, long playerId, String name) {}

  @TempDir Path walDirectory;

  final RedisConnector connector = new RedisConnector(new RedisConfig(TestServers.adminRedisUri()));

  /** Past the proxy. */
  final RedisConnection redis = connector.open();

  final FaultProxy proxy = FaultProxy.ofRedis();
  final Queue<Conflict> conflicts = new ConcurrentLinkedQueue<>();
  Game game;

  @BeforeEach
  final void startGame() throws Exception {
    game =
        new Game(
            GameDatabase.create("pets")
                .table(
                    "pet",
                    "player",
                    "player_id",
                    "id BIGINT NOT NULL PRIMARY KEY, player_id BIGINT NOT NULL, name VARCHAR(20)"
                        + " NOT NULL, KEY (player_id)"),
            walDirectory);
  }

  @AfterEach
  final void stopGame() throws IOException {
    proxy.close();
    game.close();
    connector.close();
  }

  final GameQueueConfigBuilder behind(String redisUri, String node) {
    return game.config(node).redis(redisUri).onConflict(conflicts::add);
  }

  final GameQueueConfigBuilder behindProxy(String node) {
    return behind(proxy.uri(), node);
  }

  final GameQueue nodeBehindProxy(String node) {
    return GameQueue.open(behindProxy(node).build());
  }

  static CommitReceipt commit(OwnerSession session, Pet pet) {
    session.put(pet);
    return session.commit();
  }

  /** Commits and waits until Redis has it. */
  static CommitReceipt queued(OwnerSession session, Pet pet) {
    CommitReceipt receipt = commit(session, pet);
    receipt.awaitQueued(LONG);
    return receipt;
  }

  /** As a failover does: nobody is connected while the newest writes disappear. */
  final void loseAllSince(RedisContents image) {
    cutOff();
    image.restore();
    proxy.refuse(false);
  }

  /** Nodes behind the proxy do not reach Redis any more. */
  final void cutOff() {
    proxy.refuse(true);
    proxy.cut();
  }
}
