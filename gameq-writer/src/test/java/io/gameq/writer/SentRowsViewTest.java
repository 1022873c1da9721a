package io.gameq.writer;

import static io.gameq.servers.Waits.LONG;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.gameq.GameQueue;
import io.gameq.terminal.ExitCodes;
import io.gameq.writer.service.WriterService;
import java.time.Duration;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** What operators see of rows that were sent to an owner, and what they do with them. */
@Execution(ExecutionMode.CONCURRENT)
class SentRowsViewTest extends RedisLossFixture {
  private ConfigFile config;

  @BeforeEach
  void configure() throws Exception {
    config = ConfigFile.write(walDirectory, game.database.server(), game.namespace, Game.SLOTS);
  }

  private String run(int exitCode, String command) {
    CommandLineRun run = config.run(command);
    System.out.println("$ gameq-writer " + command + "\n" + run.out() + run.err());
    assertEquals(exitCode, run.exitCode(), run::toString);
    assertFalse(run.out().contains("0000000000000000-") && !command.contains("--json"), run::out);
    return run.out();
  }

  private static void assertHas(String text, String... parts) {
    for (String part : parts) {
      assertTrue(text.contains(part), () -> "no '" + part + "' in\n" + text);
    }
  }

  private GameQueue withLongMergeWindow() {
    return GameQueue.open(game.config("n1").mergeWindow(Duration.ofMinutes(5)).build());
  }

  private String pets() throws Exception {
    return game.queryText("SELECT GROUP_CONCAT(id, name ORDER BY id) FROM pet");
  }

  @Test
  void whereItWaitsIsShownWithItsOwnerAndItIsFlushedWithItsOwner() throws Exception {
    try (GameQueue queue = withLongMergeWindow()) {
      queue.send("player:1", new Pet(1, 1, "Rex")).awaitQueued(LONG);
      assertHas(
          run(ExitCodes.OK, "trace player:1 --wal " + walDirectory),
          "nobody has opened it",
          "by node process ",
          "1 row (1 pet)",
          "1 change",
          "next: due in ");
      assertHas(
          run(ExitCodes.OK, "trace pet 1 --owner player:1 --wal " + walDirectory),
          "dirty  player:1",
          "wal    player:1",
          "sent by node process ",
          "next: due in ");
      JsonNode json = new ObjectMapper().readTree(run(ExitCodes.OK, "trace player:1 --json"));
      assertEquals(1, json.at("/redis/sentByProcess").size(), json::toString);
      assertHas(run(ExitCodes.FOUND_SOMETHING, "flush player:1 --wait --timeout 1"), "1 row of 1");
      try (WriterService writer = game.writer("w1")) {
        assertHas(run(ExitCodes.OK, "flush player:1 --wait --timeout 60"), "n");
        assertEquals("1Rex", pets());
      }
      assertHas(
          run(ExitCodes.OK, "trace player:1"), "nobody has opened it", "all of it is in MySQL");
    }
  }

  @Test
  void aDeadLetterOfItIsNeverWrittenOverTheRowThatHasItsKey() throws Exception {
    game.database.server().execute("INSERT INTO pet (id, player_id, name) VALUES (1, 1, 'first')");
    try (GameQueue queue = game.node("n1");
        WriterService writer = game.writer("w1")) {
      queue.send("player:1", new Pet(1, 1, "late")).awaitQueued(LONG);
      await().atMost(LONG).until(() -> writer.stats().deadLetters() == 1);
    }
    assertHas(run(ExitCodes.FOUND_SOMETHING, "dead list --owner player:1"), "1 dead letter");
    assertHas(run(ExitCodes.FOUND_SOMETHING, "dead retry --owner player:1"), "new key");
    assertEquals("1first", pets());
    run(ExitCodes.OK, "dead discard --owner player:1 --yes");
    assertHas(run(ExitCodes.OK, "trace player:1"), "1 discard", "all of it is in MySQL");
  }

  @Test
  void whatWasDiscardedIsNotFlushedWhenItComesBack() throws Exception {
    game.database
        .server()
        .execute(
            "INSERT INTO gameq_discard (table_name, row_key, session, owner, version, discarded_at)"
                + " VALUES ('pet', '1', '', 'player%3A1', 9000000000000000000, NOW())");
    try (GameQueue queue = game.node("n1");
        WriterService writer = game.writer("w1")) {
      queue.send("player:1", new Pet(1, 1, "gone"), new Pet(2, 1, "kept")).awaitQueued(LONG);
      await().atMost(LONG).until(() -> pets() != null && pets().contains("2kept"));
      assertEquals("2kept", pets());
    }
  }
}
