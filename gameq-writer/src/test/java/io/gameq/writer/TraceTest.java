package io.gameq.writer;

import static io.gameq.servers.Waits.LONG;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.gameq.GameQueue;
import io.gameq.OwnerSession;
import io.gameq.mysql.tables.AuditTable;
import io.gameq.servers.GameDatabase;
import io.gameq.terminal.ExitCodes;
import io.gameq.writer.mysql.PauseTable;
import io.gameq.writer.mysql.PauseTable.Scope;
import io.gameq.writer.service.WriterService;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What {@code trace} says of owners and rows in real states. */
class TraceTest {
  record Item(long playerId, int slot, String name, int count) {}

  @TempDir static Path directory;

  private static Game game;
  private static ConfigFile config;

  @BeforeAll
  static void start() throws Exception {
    GameDatabase database =
        GameDatabase.create("trace")
            .table(
                "item",
                "player",
                "player_id",
                "player_id BIGINT NOT NULL, slot INT NOT NULL, name VARCHAR(20) NOT NULL, count"
                    + " INT NOT NULL, PRIMARY KEY (player_id, slot), CONSTRAINT few CHECK (count <"
                    + " 5000)");
    game = new Game(database, directory);
    config = ConfigFile.write(directory, database.server(), game.namespace, Game.SLOTS);
  }

  @AfterAll
  static void stop() {
    game.close();
  }

  private static CommandLineRun run(String command) {
    CommandLineRun run = config.run(command);
    System.out.println("$ gameq-writer " + command + "\n" + run.out() + run.err());
    return run;
  }

  private static void expect(String command, int exitCode, String... texts) {
    CommandLineRun run = run(command);
    assertEquals(exitCode, run.exitCode(), run::toString);
    for (String text : texts) {
      assertTrue(run.out().contains(text), () -> text + " is not in\n" + run.out());
    }
  }

  private static GameQueue node(String name) {
    return GameQueue.open(game.config(name).mergeWindow(Duration.ofMinutes(5)).build());
  }

  @Test
  void anOwnerAndHisRowsOnTheirWay() throws Exception {
    try (GameQueue queue = node("n1")) {
      OwnerSession session = queue.open("player:1");
      session.put(new Item(1, 3, "sword", 1));
      session.commit().awaitQueued(LONG);
      expect("trace player:1", ExitCodes.OK, "on node n1", "1 row (1 item)", "next: due in 4 min");
      try (WriterService writer = game.writer("w1")) {
        session.awaitDurable(LONG);
      }
      expect("trace player:1", ExitCodes.OK, "next: nothing: all of it is in MySQL");
      session.put(new Item(1, 3, "sword", 2));
      session.commit().awaitQueued(LONG);
      CommandLineRun hidden = run("trace item 1,3");
      assertTrue(hidden.out().contains("columns that differ: count"), hidden::out);
      assertFalse(hidden.out().contains("sword"), "values are hidden");
      expect("trace item 1,3 --values", ExitCodes.OK, "= sword", "* count");
      AuditTable.Entry audit = AuditTable.newest(game.mysql, Long.MAX_VALUE, 1).get(0);
      assertEquals("show values item:1,3", audit.action() + " " + audit.target());
      expect(
          "trace item 1,3 --wal " + directory,
          ExitCodes.OK,
          "wal",
          "record ",
          "next: due in 4 min");
      expect("trace player:1 --wal " + directory, ExitCodes.OK, "WAL", "2 changes");
      JsonNode json = new ObjectMapper().readTree(run("trace item 1,3 --json").out());
      assertEquals("due_later", json.path("state").asText(), json::toString);
      assertEquals(2, json.path("places").size(), json::toString);
      assertFalse(json.toString().contains("sword"));
    }
  }

  @Test
  void aRowThatMySqlRefuses() throws Exception {
    try (GameQueue queue = game.node("n2");
        WriterService writer = game.writer("w1")) {
      OwnerSession session = queue.open("player:2");
      session.put(new Item(2, 1, "bow", 6_000)); // more than MySQL takes
      session.commit().awaitQueued(LONG);
      await().atMost(LONG).until(() -> writer.stats().deadLetters() == 1);
      expect(
          "trace player:2", ExitCodes.FOUND_SOMETHING, "1 dead letter", "item:2,1", "dead retry");
      expect("trace item 2,1", ExitCodes.FOUND_SOMETHING, "letter ", "'gameq-writer dead retry ");
    }
  }

  @Test
  void whatIsPausedWaits() throws Exception {
    try (GameQueue queue = game.node("n3")) {
      OwnerSession session = queue.open("player:3");
      session.put(new Item(3, 1, "bow", 1));
      session.commit().awaitQueued(LONG);
      PauseTable.add(game.mysql, Scope.TABLE, "item", "alter <it>", "ann");
      expect("trace player:3", ExitCodes.FOUND_SOMETHING, "table item by ann", "paused tables");
      PauseTable.remove(game.mysql, Scope.TABLE, "item");
    }
  }

  @Test
  void whomNobodyKnows() {
    expect("trace player:99", ExitCodes.FOUND_SOMETHING, "nobody has opened it");
    expect("trace item 99,1", ExitCodes.FOUND_SOMETHING, "nobody knows this row");
    expect("trace nothing 1", ExitCodes.FOUND_SOMETHING, "no row of a managed table", "--owner");
    assertEquals(ExitCodes.COULD_NOT_RUN, run("trace player:99 --values").exitCode());
    assertEquals(ExitCodes.COULD_NOT_RUN, run("trace 99").exitCode());
  }
}
