package io.gameq.recovery;

import static io.gameq.servers.Waits.LONG;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.gameq.GameQueue;
import io.gameq.OwnerSession;
import io.gameq.recovery.RecoveryGame.Item;
import io.gameq.recovery.RecoveryGame.Run;
import io.gameq.terminal.ExitCodes;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** Only exit code 0 of verify means that nothing needs the WALs any more. */
@Execution(ExecutionMode.CONCURRENT)
class VerifyExitCodeTest extends RecoveryFixture {
  private void play(GameQueue queue) {
    OwnerSession player = queue.open("player:1");
    player.put(new Item(1, 1, 1, 1));
    player.put(new Item(1, 2, 1, 1));
    player.commit().awaitQueued(LONG);
  }

  private void assertVerify(int exitCode, String says) {
    Run verify = game.run("verify");
    assertEquals(exitCode, verify.exitCode(), verify::toString);
    assertTrue(verify.says(says), verify::toString);
    assertEquals(exitCode, game.run("verify --json").exitCode());
  }

  @Test
  void tellsWhatIsLostFromWhatOnlyRedisHoldsFromWhatMySqlHolds() throws Exception {
    try (GameQueue queue = game.node("n1")) {
      play(queue);
    }
    assertVerify(
        VerifyCommand.KEEP_THE_WALS, "2 rows only in Redis, and lost if Redis loses them: keep");
    assertEquals(ExitCodes.OK, game.run("plan").exitCode());
    game.loseRedis();
    assertVerify(ExitCodes.FOUND_SOMETHING, "Something is left to act on. Keep the WALs.");
    game.run("replay --execute --into mysql");
    assertVerify(ExitCodes.OK, "All of it is in MySQL: these WALs may be removed.");
    Run some = game.run("verify --owner player:1");
    assertEquals(ExitCodes.OK, some.exitCode());
    assertFalse(some.says("may be removed"), some::toString);
    game.database.server().execute("UPDATE item SET count = 666 WHERE slot = 2");
    assertVerify(ExitCodes.FOUND_SOMETHING, "other content");
  }

  @Test
  void aWalThatItsNodeWritesOnIsKept() {
    try (GameQueue queue = game.node("n1")) {
      play(queue);
    }
    game.loseRedis();
    game.run("replay --execute --into mysql");
    try (GameQueue queue = game.node("n2")) {
      queue.open("player:2");
      assertVerify(VerifyCommand.KEEP_THE_WALS, "a node is alive and writes on: keep its WAL");
      Run withoutRedis = game.run("verify --no-redis");
      assertEquals(
          VerifyCommand.KEEP_THE_WALS, withoutRedis.exitCode(), "by its lock: " + withoutRedis);
    }
  }
}
