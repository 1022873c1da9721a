package io.gameq.recovery;

import static io.gameq.servers.Waits.LONG;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.gameq.GameQueue;
import io.gameq.GameQueueException;
import io.gameq.OwnerSession;
import io.gameq.recovery.RecoveryGame.Item;
import io.gameq.recovery.RecoveryGame.Run;
import io.gameq.servers.TestServers;
import io.gameq.terminal.ExitCodes;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The database of one environment, and the WAL or the Redis of another. */
class CloneTest {
  @TempDir Path directory;

  private RecoveryGame game;

  @BeforeEach
  void start() throws Exception {
    game = new RecoveryGame(directory);
  }

  @AfterEach
  void stop() {
    game.close();
    TestServers.redis().sync().del(game.namespace + ":database");
  }

  /** As {@code schema new-identity} does in a clone. */
  private void isAnotherDatabase() throws Exception {
    game.database
        .server()
        .execute("UPDATE gameq_setting SET value = 'anotherone' WHERE name = 'database'");
  }

  private void playAndLoseRedis(int players) {
    try (GameQueue queue = game.node("n1")) {
      for (int player = 1; player <= players; player++) {
        OwnerSession session = queue.open("player:" + player);
        session.put(new Item(player, 1, 1_001, 5));
        session.commit();
      }
      OwnerSession last = queue.open("player:0");
      last.put(new Item(0, 1, 1_001, 5));
      last.commit().awaitQueued(LONG);
    }
    game.loseRedis();
  }

  @Test
  void theToolRefusesTheWalOfAnotherDatabase() throws Exception {
    playAndLoseRedis(1);
    isAnotherDatabase();
    for (String command : List.of("plan", "verify", "replay --execute", "plan --no-redis")) {
      Run run = game.run(command);
      assertEquals(ExitCodes.COULD_NOT_RUN, run.exitCode(), run::toString);
      assertTrue(run.says("and this is anotherone, perhaps a clone"), run::toString);
    }
  }

  @Test
  void theToolRefusesADatabaseOfANewerProtocolBeforeItWrites() throws Exception {
    playAndLoseRedis(1);
    game.database
        .server()
        .execute("INSERT INTO gameq_setting VALUES ('protocol', '9 0.9.0 then x')");
    for (String command : List.of("plan", "verify", "replay --execute", "plan --no-redis")) {
      Run run = game.run(command);
      assertEquals(ExitCodes.COULD_NOT_RUN, run.exitCode(), run::toString);
      assertTrue(run.says("the database is at 9"), run::toString);
    }
    assertEquals("0", game.query("SELECT COUNT(*) FROM gameq_audit"));
  }

  @Test
  void aNodeLeavesTheWalOfAnotherDatabaseAlone() throws Exception {
    playAndLoseRedis(1);
    isAnotherDatabase();
    TestServers.redis().sync().del(game.namespace + ":database");
    try (GameQueue queue = game.node("n1")) {
      assertEquals(List.of(), queue.open("player:1").rows(Item.class));
    }
  }

  @Test
  void theRedisOfAnotherDatabaseIsRefused() throws Exception {
    playAndLoseRedis(1);
    isAnotherDatabase();
    String message =
        String.valueOf(
            assertThrows(GameQueueException.class, () -> game.node("n1").close()).getMessage());
    assertTrue(
        message.contains("redis-cli SET " + game.namespace + ":database anotherone"), message);
  }

  @Test
  void theToolRefusesARedisWithRowsOfANewerProtocol() {
    playAndLoseRedis(1);
    String key = game.namespace + ":protocol";
    String unused = TestServers.redis().sync().set(key, "9 0.9.0 then x");
    Run run = game.run("replay --execute");
    TestServers.redis().sync().del(key);
    assertEquals(ExitCodes.COULD_NOT_RUN, run.exitCode(), run::toString);
    assertTrue(run.says("what this Redis holds is at 9"), run::toString);
  }

  @Test
  void manySessionsThatMySqlDoesNotKnowAreAskedAbout() throws Exception {
    playAndLoseRedis(101);
    game.database.server().execute("DELETE FROM gameq_owner");
    Run run = game.run("replay --execute");
    assertEquals(ExitCodes.COULD_NOT_RUN, run.exitCode(), run::toString);
    assertTrue(run.says("pass --yes"), run::toString);
    assertEquals("0", game.query("SELECT COUNT(*) FROM gameq_owner"));

    Run meant = game.run("replay --execute --yes");
    assertEquals(ExitCodes.OK, meant.exitCode(), meant::toString);
    assertTrue(meant.says("102 sessions restored in MySQL"), meant::toString);
  }
}
