package io.gameq.recovery;

import static io.gameq.servers.Waits.LONG;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.gameq.GameQueue;
import io.gameq.OwnerSession;
import io.gameq.OwnershipLostException;
import io.gameq.recovery.RecoveryGame.Item;
import io.gameq.recovery.RecoveryGame.Run;
import io.gameq.terminal.ExitCodes;
import io.gameq.wal.WalAtSequence;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * A node that has run for months: its WAL's sequences pass 2^31 in the middle, or are near 2^62.
 */
class LargeSequencesTest extends RecoveryFixture {
  /** 20 items, and one commit that was refused and told so. */
  private String walFrom(long firstSequence) throws Exception {
    try (GameQueue queue = game.node("n1");
        GameQueue other = game.node("n2")) {
      OwnerSession player = queue.open("player:1");
      OwnerSession old = queue.open("player:2");
      other.open("player:2");
      for (int slot = 0; slot < 20; slot++) {
        player.put(new Item(1, slot, 1_000 + slot, 1));
        player.commit().awaitQueued(LONG);
      }
      old.put(new Item(2, 1, 1, 99));
      assertThrows(OwnershipLostException.class, () -> old.commit().awaitQueued(LONG));
    }
    game.loseRedis();
    try (Stream<Path> wals = Files.list(game.wal)) {
      Path wal =
          wals.filter(path -> path.getFileName().toString().startsWith("n1-"))
              .findFirst()
              .orElseThrow();
      return WalAtSequence.copy(wal, directory.resolve("old"), firstSequence).toString();
    }
  }

  private Run run(String command, String wal) {
    return game.run(command, List.of(wal));
  }

  @Test
  void aWalWhoseSequencesPassTwoToThe31IsInspectedPlannedReplayedAndVerified() throws Exception {
    String wal = walFrom((1L << 31) - 10);
    Run inspect = run("inspect --rows", wal);
    assertEquals(ExitCodes.OK, inspect.exitCode(), inspect::toString);
    assertTrue(inspect.says("sequences 2147483638 to 21474836"), inspect::toString);
    assertTrue(inspect.says("21 commits with 21 row changes, 1 failed"), inspect::toString);
    assertTrue(inspect.says(" failed put item:2,1"), inspect::toString);
    Run plan = run("plan", wal);
    assertEquals(ExitCodes.FOUND_SOMETHING, plan.exitCode(), plan::toString);
    assertTrue(plan.says("20  LOST"), plan::toString);
    assertEquals(ExitCodes.FOUND_SOMETHING, run("verify", wal).exitCode());

    Run replay = run("replay --execute", wal);
    assertEquals(ExitCodes.OK, replay.exitCode(), replay::toString);
    assertEquals(20, game.dirtyRows(), "the failed one is not replayed");
    assertEquals(VerifyCommand.KEEP_THE_WALS, run("verify", wal).exitCode());

    game.loseRedis();
    assertEquals(ExitCodes.OK, run("replay --execute --into mysql", wal).exitCode());
    assertEquals(ExitCodes.OK, run("verify", wal).exitCode());
  }

  @Test
  void memoryDoesNotDependOnTheHighestSequence() throws Exception {
    String wal = walFrom(1L << 62);
    Run inspect = run("inspect", wal);
    assertEquals(ExitCodes.OK, inspect.exitCode(), inspect::toString);
    assertTrue(inspect.says("21 row changes, 1 failed"), inspect::toString);
    assertTrue(run("plan", wal).says("20  LOST"));
  }
}
