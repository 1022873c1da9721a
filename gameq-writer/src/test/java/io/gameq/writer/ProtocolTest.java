package io.gameq.writer;

import static io.gameq.servers.Waits.LONG;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.gameq.GameQueue;
import io.gameq.GameQueueException;
import io.gameq.OwnerSession;
import io.gameq.servers.ChildJvm;
import io.gameq.servers.GameDatabase;
import io.gameq.servers.TestServers;
import io.gameq.sign.Protocol;
import io.gameq.terminal.ExitCodes;
import io.gameq.writer.service.WriterService;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.sql.SQLException;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Isolated;

/** A game that is at a protocol that not everybody speaks, and how it gets there. */
@Isolated("it has this build speak a newer protocol")
class ProtocolTest {
  private static final String SPEAKS = "gameq.test.newestProtocol";
  private static final String NEWER = "3 0.3.0 2026-11-29T10:15:00Z alice@ops";

  @TempDir Path directory;

  private Game game;
  private ConfigFile config;

  record Pet(long id, long playerId, String name) {}

  @BeforeEach
  void start() throws Exception {
    GameDatabase database =
        GameDatabase.create("protocol")
            .table(
                "pet",
                "player",
                "player_id",
                "id BIGINT PRIMARY KEY, player_id BIGINT NOT NULL, name VARCHAR(60) NOT NULL");
    game = new Game(database, directory);
    config = ConfigFile.write(directory, database.server(), game.namespace, Game.SLOTS);
    Files.writeString(
        config.file(),
        "tables: [ { name: pet, owner: player, ownerColumn: player_id } ]",
        StandardOpenOption.APPEND);
  }

  @AfterEach
  void stop() {
    System.clearProperty(SPEAKS);
    game.close();
  }

  private void raised() throws SQLException {
    game.database
        .server()
        .execute("REPLACE INTO gameq_setting VALUES ('protocol', '" + NEWER + "')");
  }

  private static void assertRefused(String who, String message) {
    String text =
        "this is gameq %s, which speaks protocol 1, and %s is at 3 (raised 2026-11-29T10:15:00Z by"
            + " alice@ops): use gameq 0.3.0 or newer";
    assertTrue(message.contains(text.formatted(Protocol.RELEASE, who)), message);
  }

  private void assertNobodyStarts(String who) {
    assertRefused(
        who, assertThrows(GameQueueException.class, () -> game.node("n1").close()).getMessage());
    assertRefused(
        who, assertThrows(GameQueueException.class, () -> game.writer("w1").close()).getMessage());
  }

  @Test
  void whoDoesNotSpeakTheProtocolOfTheDatabaseIsRefusedBeforeItWrites() throws Exception {
    raised();
    assertNobodyStarts("the database");
    assertEquals("0", game.queryText("SELECT COUNT(*) FROM gameq_redis_term"));
    assertEquals(
        "0",
        game.queryText("SELECT COUNT(*) FROM gameq_setting WHERE name IN ('namespace','slots')"));
    assertEquals(List.of(), TestServers.redis().sync().keys("*" + game.namespace + ":*"));
    for (String command : List.of("dead retry --all", "status", "schema migrate", "run")) {
      CommandLineRun run = config.run(command);
      assertEquals(ExitCodes.COULD_NOT_RUN, run.exitCode(), run::toString);
      assertRefused("the database", run.err());
    }
  }

  @Test
  void aRedisWithRowsOfANewerProtocolIsRefusedThoughMySqlWasRestoredFromBefore() throws Exception {
    String unused = TestServers.redis().sync().set(game.namespace + ":protocol", NEWER);
    assertNobodyStarts("what this Redis holds");
  }

  @Test
  void aNodeThatRunsEndsOnceItsGameIsAtAProtocolThatItDoesNotSpeak() throws Exception {
    CompletableFuture<Throwable> failed = new CompletableFuture<>();
    try (GameQueue node = GameQueue.open(game.config("n1").onFailure(failed::complete).build())) {
      OwnerSession session = node.open("player:1");
      session.put(new Pet(1, 1, "before"));
      session.commit().awaitQueued(LONG);
      raised();
      assertRefused("the database", failed.get(LONG.toSeconds(), TimeUnit.SECONDS).toString());
      session.put(new Pet(1, 1, "after"));
      GameQueueException refused =
          assertThrows(GameQueueException.class, () -> session.commit().awaitQueued(LONG));
      assertRefused("the database", refused.getMessage());
      assertThrows(GameQueueException.class, () -> node.open("player:2"));
    }
  }

  @Test
  void aWriterThatRunsEndsByItselfOnceItsGameIsAtAProtocolThatItDoesNotSpeak() throws Exception {
    Path log = directory.resolve("writer.log");
    ChildJvm writer =
        ChildJvm.start(
            log, CampaignWriter.class, List.of("run", "--config", config.file().toString()));
    try (GameQueue node = game.node("n1")) {
      OwnerSession session = node.open("player:1");
      session.put(new Pet(1, 1, "before"));
      session.commit().awaitDurable(LONG);
      raised();
      assertTrue(writer.awaitEnd((int) LONG.toSeconds()));
      assertRefused("the database", Files.readString(log));
    } finally {
      writer.kill();
    }
  }

  @Test
  void isRaisedOnceAllWhoRunSpeakItAndEveryoneLearnsItWithoutARestart() throws Exception {
    try (GameQueue old = game.node("n1")) {
      old.open("player:1").close();
      System.setProperty(SPEAKS, "2");
      CommandLineRun refused = config.run("protocol raise --yes");
      assertEquals(ExitCodes.FOUND_SOMETHING, refused.exitCode(), refused::toString);
      assertTrue(
          refused
              .out()
              .contains("is gameq " + Protocol.RELEASE + ", which speaks protocol 1 and not 2"),
          refused::toString);
      assertEquals(ExitCodes.FOUND_SOMETHING, config.run("protocol").exitCode());
      assertEquals("0", game.queryText("SELECT COUNT(*) FROM gameq_audit"));
    }
    try (GameQueue node = game.node("n2");
        WriterService writer = game.writer("w1")) {
      OwnerSession session = node.open("player:1");
      session.put(new Pet(1, 1, "Rex"));
      session.commit().awaitDurable(LONG);
      assertTrue(config.run("nodes").out().contains(Protocol.RELEASE + " (1-2)"));
      assertTrue(config.run("protocol raise --dry-run").out().contains("from protocol 1 to 2"));
      assertTrue(config.run("protocol").out().contains("from protocol 1 to 2"));
      CommandLineRun raised = config.run("protocol raise --yes");
      assertEquals(ExitCodes.OK, raised.exitCode(), raised::toString);
      String value = game.queryText("SELECT value FROM gameq_setting WHERE name = 'protocol'");
      assertTrue(value.startsWith("2 " + Protocol.RELEASE + " 2"), value);
      assertEquals(value, TestServers.redis().sync().get(game.namespace + ":protocol"));
      assertEquals("1 -> 2", game.queryText("SELECT detail FROM gameq_audit"));
      for (String who : List.of("nodes", "writers")) {
        await()
            .atMost(LONG)
            .until(() -> config.run(who + " --json").out().contains("\"protocol\":2"));
      }
      assertTrue(config.run("protocol raise --yes").out().contains("nothing to raise"));
      session.put(new Pet(1, 1, "Max"));
      session.commit().awaitDurable(LONG);
    }
    System.clearProperty(SPEAKS);
    assertNotEquals(ExitCodes.OK, config.run("status").exitCode());
    assertThrows(GameQueueException.class, () -> game.node("n3").close());
  }
}
