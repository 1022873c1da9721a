package io.gameq.writer;

import static io.gameq.servers.Waits.LONG;
import static io.gameq.writer.RefusingGame.commit;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.gameq.CommitReceipt;
import io.gameq.GameQueue;
import io.gameq.OwnerSession;
import io.gameq.mysql.flush.FlushPlan;
import io.gameq.owner.OwnerId;
import io.gameq.redis.RedisConnection;
import io.gameq.redis.RedisConnector;
import io.gameq.redis.RedisConnector.RedisConfig;
import io.gameq.redis.Slots;
import io.gameq.redis.script.SlotBacklog;
import io.gameq.servers.TestServers;
import io.gameq.terminal.ExitCodes;
import io.gameq.writer.RefusingGame.Chest;
import io.gameq.writer.RefusingGame.Pet;
import io.gameq.writer.RefusingGame.Toy;
import io.gameq.writer.service.WriterService;
import java.nio.file.Path;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** What operators pause waits, and nothing else does. */
@Execution(ExecutionMode.CONCURRENT)
class PausesTest {
  /** Writers look once a second; a flush takes far less. */
  private static final Duration SOON = Duration.ofSeconds(8);

  @TempDir Path directory;

  private Game game;
  private ConfigFile config;
  private final RedisConnector connector =
      new RedisConnector(new RedisConfig(TestServers.redisUri()));
  private final RedisConnection redis = connector.open();

  @BeforeEach
  void start() throws Exception {
    game = new Game(RefusingGame.create("pause"), directory);
    config = ConfigFile.write(directory, game.database.server(), game.namespace, Game.SLOTS);
  }

  @AfterEach
  void stop() {
    connector.close();
    game.close();
  }

  private CommandLineRun run(int exitCode, String command) {
    CommandLineRun run = config.run(command);
    System.out.println("$ gameq-writer " + command + "\n" + run.out() + run.err());
    assertEquals(exitCode, run.exitCode(), run::toString);
    return run;
  }

  private static int slot(OwnerSession of) {
    return OwnerId.of(of.owner()).slot(Game.SLOTS);
  }

  private SlotBacklog waiting(int slot) {
    return SlotBacklog.inSlots(redis, new Slots(game.namespace, Game.SLOTS), Set.of(), Set.of())
        .get(slot);
  }

  /** Nobody has claimed it though it is due for longer than any writer needs. */
  private void assertIsLeftAlone(OwnerSession session) {
    await().atMost(LONG).until(() -> waiting(slot(session)).oldestAgeMillis() > 700);
    SlotBacklog waiting = waiting(slot(session));
    assertEquals(1, waiting.due(), waiting::toString);
    assertEquals(0, waiting.claimed(), waiting::toString);
  }

  private void awaitProblem(WriterService writer, String problem) {
    await().atMost(LONG).until(() -> writer.problems().toString().contains(problem));
  }

  private String count(String table) throws SQLException {
    return game.queryText("SELECT COUNT(*) FROM " + table);
  }

  @Test
  void allThatIsPausedWaitsAndGoesOnAtOnceWhenResumed() throws Exception {
    try (WriterService writer = game.writer("w1");
        GameQueue queue = game.node("n1")) {
      OwnerSession player = queue.open("player:1");
      run(ExitCodes.OK, "pause all --reason moving");
      awaitProblem(writer, "everything is paused by");
      CommitReceipt pet = commit(player, new Pet(1, 1, 5));
      assertIsLeftAlone(player);
      assertTrue(writer.problems().toString().contains("moving"), () -> "" + writer.problems());
      String status = run(ExitCodes.OK, "status").out();
      assertTrue(status.contains("paused   everything by "), status);
      assertTrue(
          run(ExitCodes.FOUND_SOMETHING, "flush player:1 --wait --timeout 1")
              .out()
              .contains("everything is paused by "));
      run(ExitCodes.OK, "resume all");
      pet.awaitDurable(SOON);
      await().atMost(LONG).until(() -> writer.problems().isEmpty());
      assertEquals(0, writer.stats().givenBack());
      assertEquals(
          "pause all moving, flush player:1 , resume all",
          game.queryText(
              "SELECT GROUP_CONCAT(CONCAT(action, ' ', target, IF(action = 'resume', '', CONCAT('"
                  + " ', detail))) ORDER BY id SEPARATOR ', ') FROM gameq_audit"));
    }
  }

  @Test
  void aPausedSlotWaitsOthersGoOnAndRefusalsThatItMayCureCountForNothing() throws Exception {
    game.patience = new FlushPlan.Patience(1, 1, 0, 15, 100);
    try (WriterService writer = game.writer("w1");
        GameQueue queue = game.node("n1")) {
      OwnerSession paused = queue.open("player:1");
      OwnerSession other = queue.open("player:2");
      assertFalse(slot(paused) == slot(other));
      run(ExitCodes.OK, "pause slot " + slot(paused) + " --reason broken");
      await().atMost(LONG).until(() -> writer.pauses().ofSlot(slot(paused)) != null);
      CommitReceipt pet = commit(paused, new Pet(1, 1, 5));
      commit(other, new Pet(2, 2, 5)).awaitDurable(LONG);
      CommitReceipt toy = commit(other, new Toy(2, 2, 1)); // of the pet that waits
      await().atMost(LONG).until(() -> writer.stats().givenBack() == 1);
      run(ExitCodes.OK, "flush player:2");
      await().atMost(LONG).until(() -> writer.stats().givenBack() == 2);
      assertIsLeftAlone(paused);
      assertEquals("0", count("gameq_dead_letter"));
      JsonNode slots =
          new ObjectMapper()
              .readTree(
                  run(ExitCodes.OK, "slots --json")
                      .out()
                      .lines()
                      .filter(line -> !line.contains("\"pause\":null"))
                      .findFirst()
                      .orElseThrow());
      assertEquals(slot(paused), slots.path("slot").asInt(), slots::toString);
      assertEquals("broken", slots.path("pause").path("reason").asText(), slots::toString);
      run(ExitCodes.OK, "slots");
      run(ExitCodes.OK, "resume slot " + slot(paused));
      pet.awaitDurable(SOON);
      toy.awaitDurable(SOON);
      assertEquals("0", count("gameq_dead_letter"));
    }
  }

  @Test
  void rowsOfAPausedTableWaitWithWhatRefersToThemAndOthersOfTheirOwnerGoOn() throws Exception {
    try (WriterService writer = game.writer("w1");
        GameQueue queue = game.node("n1")) {
      OwnerSession player = queue.open("player:1");
      commit(player, new Pet(1, 1, 5), new Toy(1, 1, 1)).awaitDurable(LONG);
      String said = run(ExitCodes.OK, "pause table pet --reason audit").out();
      assertTrue(said.contains("table toy waits with it"), said);
      await().atMost(LONG).until(() -> writer.pauses().tables().contains("pet"));
      CommitReceipt all =
          commit(
              player, new Pet(1, 1, 6), new Pet(2, 1, 7), new Toy(2, 1, 2), new Chest(1, 1, "a"));
      await().atMost(LONG).until(() -> count("chest").equals("1"));
      await()
          .atMost(LONG)
          .until(() -> player.notDurable().equals(Set.of("pet:1", "pet:2", "toy:2")));
      assertFalse(all.durable().isDone());
      assertEquals("5", game.queryText("SELECT age FROM pet"));
      assertTrue(queue.read("player:1", Pet.class).contains(new Pet(1, 1, 6)));
      assertEquals(player.notDurable(), queue.drain(Duration.ofMillis(200)));
      await().atMost(LONG).until(() -> waiting(slot(player)).overdue() == 0);
      assertEquals(1, waiting(slot(player)).due(), "it is left alone for long");
      run(ExitCodes.OK, "resume table pet");
      all.awaitDurable(SOON);
      assertEquals(
          "6 7", game.queryText("SELECT GROUP_CONCAT(age ORDER BY id SEPARATOR ' ') FROM pet"));
    }
  }

  @Test
  void deletesWaitInTablesThatAPausedOneRefersTo() throws Exception {
    try (WriterService writer = game.writer("w1");
        GameQueue queue = game.node("n1")) {
      OwnerSession player = queue.open("player:1");
      commit(player, new Pet(1, 1, 5), new Toy(1, 1, 1)).awaitDurable(LONG);
      run(ExitCodes.OK, "pause table toy --reason audit");
      await().atMost(LONG).until(() -> writer.pauses().tables().contains("toy"));
      player.delete("toy", 1);
      player.delete("pet", 1);
      player.put(new Pet(2, 1, 7));
      CommitReceipt all = player.commit();
      await().atMost(LONG).until(() -> count("pet").equals("2"));
      assertEquals("1", count("toy"));
      run(ExitCodes.OK, "resume table toy");
      all.awaitDurable(SOON);
      assertEquals("0 1", count("toy") + " " + count("pet"));
      assertEquals("0", count("gameq_dead_letter"));
    }
  }

  @Test
  void aQuietWriterClaimsNothingAndAnotherGoesOn() throws Exception {
    try (WriterService quiet = game.writer("w1");
        GameQueue queue = game.node("n1")) {
      OwnerSession player = queue.open("player:1");
      run(ExitCodes.OK, "pause writer w1 --reason upgrade");
      awaitProblem(quiet, "writer w1 is paused by");
      CommitReceipt pet = commit(player, new Pet(1, 1, 5));
      assertIsLeftAlone(player);
      try (WriterService other = game.writer("w2")) {
        pet.awaitDurable(SOON);
        await().atMost(LONG).until(() -> other.problems().isEmpty());
        await().atMost(LONG).until(() -> other.stats().rows() == 1);
        assertEquals(0, quiet.stats().rows());
      }
      assertTrue(quiet.isAlive());
      pet = commit(player, new Pet(1, 1, 6));
      run(ExitCodes.OK, "resume writer w1");
      pet.awaitDurable(SOON);
      await().atMost(LONG).until(() -> quiet.stats().rows() == 1);
    }
  }

  @Test
  void whatCannotBePausedIsRefusedByName() throws Exception {
    assertTrue(run(2, "pause table pets --reason x").err().contains("table pets is not managed"));
    assertTrue(run(2, "pause slot 4 --reason x").err().contains("has slots 0 to 3"));
    assertTrue(run(2, "pause slot four --reason x").err().contains("'four' is no slot"));
    assertTrue(run(2, "pause writer --reason x").err().contains("which writer?"));
    assertTrue(run(2, "pause all pet --reason x").err().contains("'all' takes no name"));
    assertTrue(run(2, "pause everything --reason x").err().contains("use all, slot, table or"));
    assertTrue(run(2, "pause all").err().contains("--reason"));
    assertTrue(run(1, "resume slot 2").out().contains("slot 2 was not paused"));
    assertEquals("0 0", count("gameq_audit") + " " + count("gameq_pause"));
  }
}
