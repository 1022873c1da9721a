package io.gameq.writer;

import static io.gameq.servers.Waits.LONG;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.gameq.CommitReceipt;
import io.gameq.GameQueue;
import io.gameq.OwnerSession;
import io.gameq.mysql.MySqlPool;
import io.gameq.mysql.MySqlPool.MySql;
import io.gameq.mysql.MySqlPool.MySqlConfig;
import io.gameq.mysql.flush.FlushPlan;
import io.gameq.owner.OwnerId;
import io.gameq.redis.RedisConnection;
import io.gameq.redis.RedisConnector;
import io.gameq.redis.RedisConnector.RedisConfig;
import io.gameq.redis.Slots;
import io.gameq.redis.script.SlotBacklog;
import io.gameq.rights.MySqlRights.Role;
import io.gameq.servers.MySqlServer;
import io.gameq.servers.TestServers;
import io.gameq.terminal.ExitCodes;
import io.gameq.writer.RefusingGame.Pet;
import io.gameq.writer.RefusingGame.Toy;
import io.gameq.writer.service.WriterService;
import io.gameq.writer.service.WriterService.StopReport;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.Statement;
import java.time.Duration;
import java.util.Objects;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** An operator has rows written now, and stops a writer that is about to. */
@Execution(ExecutionMode.CONCURRENT)
class FlushRequestTest {
  @TempDir Path directory;

  private Game game;
  private ConfigFile config;
  private final RedisConnector connector =
      new RedisConnector(new RedisConfig(TestServers.redisUri()));
  private final RedisConnection redis = connector.open();

  @BeforeEach
  void start() throws Exception {
    game = new Game(RefusingGame.create("flushnow"), directory);
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

  private static CommitReceipt commit(GameQueue queue, int player) throws Exception {
    OwnerSession session = queue.open("player:" + player);
    CommitReceipt receipt = RefusingGame.commit(session, new Pet(player, player, 5));
    receipt.awaitQueued(LONG);
    return receipt;
  }

  private GameQueue withLongMergeWindow() {
    return GameQueue.open(game.config("n1").mergeWindow(Duration.ofMinutes(10)).build());
  }

  private String pets() throws Exception {
    return game.queryText("SELECT COUNT(*) FROM pet");
  }

  @Test
  void whatAnOwnerHasIsWrittenBeforeItsTimeAndWhatAllHaveIs() throws Exception {
    try (WriterService writer = game.writer("w1");
        GameQueue queue = withLongMergeWindow()) {
      for (int player = 1; player <= 40; player++) {
        CommitReceipt unused = commit(queue, player);
      }
      run(ExitCodes.OK, "flush player:1 player:2 --wait --timeout 60");
      assertEquals("2", pets());
      assertTrue(run(ExitCodes.OK, "flush player:1").out().contains("player:1: nothing waits"));
      run(ExitCodes.OK, "flush --all --wait --timeout 60");
      assertEquals("40", pets());
      assertTrue(run(ExitCodes.OK, "flush --all").out().contains("nothing waits"));
      await().atMost(LONG).until(() -> writer.stats().rows() == 40);
    }
  }

  @Test
  void whatIsNotWrittenInTimeIsToldWithTheReason() throws Exception {
    game.patience = new FlushPlan.Patience(3, 60_000, 0, 15, 100);
    try (GameQueue queue = withLongMergeWindow()) {
      CommitReceipt unused = commit(queue, 1);
      String said = run(ExitCodes.FOUND_SOMETHING, "flush --all --wait --timeout 1").out();
      assertTrue(said.contains("1 owner (player:1): due, and no writer runs"), said);
      OwnerSession other = queue.open("player:2");
      RefusingGame.commit(other, new Toy(1, 2, 99)).awaitQueued(LONG);
      try (WriterService writer = game.writer("w1")) {
        await()
            .atMost(LONG)
            .until(
                () ->
                    config
                        .run("flush player:2 --wait --timeout 1")
                        .out()
                        .contains("MySQL refuses rows of them"));
      }
    }
  }

  @Test
  void aWriterThatStopsGivesBackWhatItCannotFinishInTimeAndCountsNoAttempt() throws Exception {
    try (GameQueue queue = game.node("n1");
        Connection locking = game.database.server().connect()) {
      commit(queue, 1);
      try (MySql patient = MySqlPool.open(mysql(), "patient");
          WriterService writer = game.writer("w1", 30_000, patient)) {
        await().atMost(LONG).until(() -> pets().equals("1"));
        locking.setAutoCommit(false);
        try (Statement statement = locking.createStatement()) {
          statement.executeQuery("SELECT * FROM pet WHERE id = 1 FOR UPDATE").close();
        }
        CommitReceipt locked = RefusingGame.commit(queue.open("player:1"), new Pet(1, 1, 6));
        await().atMost(LONG).until(() -> waiting().claimed() == 1);
        StopReport remains = writer.stop(Duration.ofSeconds(2));
        assertFalse(remains.isFinished(), remains::toString);
        assertEquals(1, remains.givenBack(), remains::toString);
        assertEquals(1, Objects.requireNonNull(remains.backlog()).owners(), remains::toString);
        assertTrue(remains.took().toMillis() < 3_000, remains::toString);
        assertEquals(0, waiting().claimed(), "given back, and not left to its lease");
        locking.rollback();
        try (WriterService next = game.writer("w2")) {
          locked.awaitDurable(LONG);
        }
      }
    }
  }

  private MySqlConfig mysql() {
    MySqlServer server = game.database.server();
    return server.as(Role.WRITER).config(8);
  }

  private SlotBacklog waiting() {
    return SlotBacklog.inSlots(redis, new Slots(game.namespace, Game.SLOTS), Set.of(), Set.of())
        .get(OwnerId.of("player:1").slot(Game.SLOTS));
  }
}
