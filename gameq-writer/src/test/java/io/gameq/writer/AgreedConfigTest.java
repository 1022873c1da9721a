package io.gameq.writer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.gameq.servers.GameDatabase;
import io.gameq.servers.TestServers;
import io.gameq.terminal.ExitCodes;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Commands with a configuration that is not that of the database. */
class AgreedConfigTest {
  @TempDir Path directory;

  private GameDatabase database;
  private Game game;

  @BeforeEach
  void start() throws Exception {
    database =
        GameDatabase.create("agreed")
            .table(
                "pet", "player", "player_id", "id BIGINT PRIMARY KEY, player_id BIGINT NOT NULL");
    game = new Game(database, directory.resolve("wal"));
    game.node("n1").close(); // fixes namespace and slots
  }

  @AfterEach
  void stop() {
    game.close();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "status",
        "slots",
        "doctor",
        "nodes",
        "writers",
        "flush --all",
        "flush --all --wait",
        "trace player:1",
        "stale list",
        "stale discard player:1 --yes",
        "dead list",
        "topics",
        "pause table pet --reason r",
        "audit"
      })
  void areRefusedByName(String command) throws Exception {
    CommandLineRun run =
        ConfigFile.write(directory, database.server(), game.namespace, Game.SLOTS * 2).run(command);
    assertEquals(ExitCodes.COULD_NOT_RUN, run.exitCode(), run.err());
    String other = "this configuration has slots %s, the database has %s";
    assertTrue(run.err().contains(other.formatted(Game.SLOTS * 2, Game.SLOTS)), run.err());
    assertEquals("", run.out());
  }

  @Test
  void anotherNamespaceIsNamedAndTheRightOnePasses() throws Exception {
    CommandLineRun run =
        ConfigFile.write(directory, database.server(), "elsewhere", Game.SLOTS).run("status");
    assertEquals(ExitCodes.COULD_NOT_RUN, run.exitCode(), run.err());
    assertTrue(run.err().contains("has namespace elsewhere"), run.err());
    CommandLineRun right =
        ConfigFile.write(directory, database.server(), game.namespace, Game.SLOTS).run("status");
    assertFalse(right.err().contains("this configuration"), right.err());
    assertTrue(right.exitCode() != ExitCodes.COULD_NOT_RUN, right.err());
  }

  @Test
  void theRedisOfAnotherDatabaseIsRefused() throws Exception {
    String key = game.namespace + ":database";
    String ours =
        database.server().queryText("SELECT value FROM gameq_setting WHERE name = 'database'");
    TestServers.redis().sync().set(key, "anotherone");
    ConfigFile file = ConfigFile.write(directory, database.server(), game.namespace, Game.SLOTS);
    CommandLineRun run = file.run("status");
    TestServers.redis().sync().del(key);
    assertEquals(ExitCodes.COULD_NOT_RUN, run.exitCode(), run.err());
    assertTrue(run.err().contains("database anotherone, and MySQL is database " + ours), run.err());
  }
}
