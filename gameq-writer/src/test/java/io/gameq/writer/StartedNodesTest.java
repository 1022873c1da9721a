package io.gameq.writer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.gameq.GameQueue;
import io.gameq.mysql.tables.NodeTable;
import io.gameq.servers.GameDatabase;
import io.gameq.terminal.ExitCodes;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Nodes that died while Redis lost what it knew of them. */
class StartedNodesTest {
  @TempDir Path directory;

  @Test
  void aNodeThatRedisKnowsNothingOfIsListedUntilSomebodySawToIt() throws Exception {
    GameDatabase database = GameDatabase.create("started");
    try (Game game = new Game(database, directory.resolve("wal"))) {
      NodeTable started = new NodeTable(game.mysql);
      try (GameQueue unused = game.node("n1")) {
        assertEquals("n1", started.all().get(0).identity().name());
      }
      assertEquals(0, started.all().size(), "it was closed in order");
      database
          .server()
          .execute(
              "INSERT INTO gameq_node VALUES ('0badcafe', 'n2', 'game-2', 7, '/var/wal/n2',"
                  + " UTC_TIMESTAMP(3))");
      ConfigFile file = ConfigFile.write(directory, database.server(), game.namespace, Game.SLOTS);
      for (String command : new String[] {"nodes", "status"}) {
        CommandLineRun run = file.run(command);
        assertEquals(ExitCodes.FOUND_SOMETHING, run.exitCode(), run.err());
        assertTrue(
            run.out().contains("Redis knows nothing of node n2 (0badcafe on game-2)"), run.out());
        assertTrue(run.out().contains("beside its WAL /var/wal/n2"), run.out());
      }
      assertEquals(ExitCodes.OK, file.run("nodes --forget 0badcafe").exitCode());
      assertEquals(0, started.all().size());
      assertEquals(ExitCodes.OK, file.run("nodes").exitCode());
    }
  }
}
