package io.gameq.writer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.gameq.CommitReceipt;
import io.gameq.GameQueue;
import io.gameq.OwnerSession;
import io.gameq.owner.OwnerId;
import io.gameq.redis.RedisConnection;
import io.gameq.redis.RedisConnector;
import io.gameq.redis.RedisConnector.RedisConfig;
import io.gameq.redis.SlotKeys;
import io.gameq.redis.script.ClaimScript;
import io.gameq.rights.MySqlRights.Role;
import io.gameq.servers.GameDatabase;
import io.gameq.servers.TestServers;
import io.gameq.servers.Waits;
import io.gameq.terminal.ExitCodes;
import io.gameq.writer.service.WriterService;
import io.lettuce.core.api.sync.RedisCommands;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Redis' clock was an hour ahead and is right again: what it left in Redis is planted. */
class RedisClockBackTest {
  private static final long AHEAD_MILLIS = 3_600_000;

  /** Far less than the hour, and more than a busy machine takes. */
  private static final Duration SOON = Duration.ofSeconds(40);

  record Item(long playerId, int slot, int count) {}

  @TempDir Path directory;

  private final RedisCommands<String, String> redis = TestServers.redis().sync();
  private Game game;

  @BeforeEach
  void start() throws Exception {
    game =
        new Game(
            GameDatabase.create("clock")
                .table(
                    "item",
                    "player",
                    "player_id",
                    "player_id BIGINT NOT NULL, slot INT NOT NULL, count INT NOT NULL, PRIMARY KEY"
                        + " (player_id, slot)"),
            directory);
  }

  @AfterEach
  void stop() {
    game.close();
  }

  private long now() {
    return Long.parseLong(redis.time().get(0)) * 1_000;
  }

  private SlotKeys slot(int player) {
    return new SlotKeys(game.namespace, OwnerId.of("player:" + player).slot(Game.SLOTS));
  }

  /** What a player has committed waits by the clock that was ahead. */
  private void putOff(int player) {
    String due = slot(player).prefix() + ":due";
    redis.zrange(due, 0, -1).stream()
        .filter(of -> of.startsWith("player%3A" + player + ":"))
        .forEach(of -> redis.zadd(due, (double) now() + AHEAD_MILLIS, of));
  }

  private static CommitReceipt commit(OwnerSession session, int player, int count) {
    session.put(new Item(player, 1, count));
    CommitReceipt receipt = session.commit();
    receipt.awaitQueued(Waits.LONG);
    return receipt;
  }

  @Test
  void whatIsDueByAClockThatWasAheadIsWrittenSoon() {
    try (GameQueue queue =
        GameQueue.open(game.config("n1").mergeWindow(Duration.ofMinutes(1)).build())) {
      CommitReceipt first = commit(queue.open("player:1"), 1, 1);
      putOff(1);
      try (WriterService writer = game.writer("w1")) {
        first.awaitDurable(SOON);
        CommitReceipt second = commit(queue.open("player:2"), 2, 2);
        putOff(2);
        second.awaitDurable(SOON);
      }
    }
  }

  @Test
  void whatAWriterThatIsGoneHadClaimedByThatClockIsTakenBackSoon() {
    try (GameQueue queue = game.node("n1")) {
      CommitReceipt receipt = commit(queue.open("player:1"), 1, 1);
      String due = slot(1).prefix() + ":due";
      redis.zrange(due, 0, -1).forEach(of -> redis.zadd(due, 1, of));
      try (RedisConnector connector =
              new RedisConnector(
                  new RedisConfig(TestServers.redisUri(Role.WRITER, game.namespace)));
          RedisConnection connection = connector.open()) {
        ClaimScript gone = new ClaimScript("w0", ClaimScript.Bounds.DEFAULT);
        assertEquals(1, gone.call(connection, slot(1)).claims().size());
      }
      String lease = slot(1).prefix() + ":lease";
      redis
          .zrange(lease, 0, -1)
          .forEach(of -> redis.zadd(lease, (double) now() + AHEAD_MILLIS, of));
      try (WriterService writer = game.writer("w1", 1_000)) {
        receipt.awaitDurable(SOON);
      }
    }
  }

  @Test
  void statusAndDoctorSayThatTheClockWentBack() throws Exception {
    try (GameQueue queue =
        GameQueue.open(game.config("n1").mergeWindow(Duration.ofMinutes(5)).build())) {
      commit(queue.open("player:1"), 1, 1);
      ConfigFile config =
          ConfigFile.write(directory, game.database.server(), game.namespace, Game.SLOTS);
      CommandLineRun well = config.run("status");
      assertTrue(!well.out().contains("clock"), well::out);
      putOff(1);
      redis.set(game.namespace + ":clock", Long.toString(now() + AHEAD_MILLIS));
      CommandLineRun status = config.run("status");
      assertEquals(ExitCodes.FOUND_SOMETHING, status.exitCode(), status::toString);
      assertTrue(status.out().contains("Redis' clock is "), status::out);
      CommandLineRun doctor = config.run("doctor --again-after 1");
      assertTrue(doctor.out().contains("Redis' clock was ahead"), doctor::out);
    }
  }
}
