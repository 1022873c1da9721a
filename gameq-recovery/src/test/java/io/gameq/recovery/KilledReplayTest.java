package io.gameq.recovery;

import static io.gameq.servers.Waits.LONG;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.gameq.CommitReceipt;
import io.gameq.GameQueue;
import io.gameq.OwnerSession;
import io.gameq.recovery.RecoveryGame.Item;
import io.gameq.recovery.RecoveryGame.Run;
import io.gameq.rights.MySqlRights.Role;
import io.gameq.terminal.ExitCodes;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The tool itself dies in the middle of a replay. */
@Tag("long")
class KilledReplayTest {
  private static final int OWNERS = 40;
  private static final int ROWS = 50;

  @TempDir Path directory;

  @Test
  void runAgainAfterKillNothingIsLostAndNoOwnerIsHalfReplayed() throws Exception {
    try (RecoveryGame game = new RecoveryGame(directory)) {
      try (GameQueue queue = game.node("n1")) {
        play(queue);
      }
      game.loseRedis();
      List<String> args = new ArrayList<>(List.of("replay", "--execute", "--rate", "100"));
      args.addAll(game.servers());
      args.add(game.wal.toString());
      Path output = directory.resolve("out");
      try (ToolProcess tool =
          ToolProcess.start(output, game.database.as(Role.RECOVERY).password(), List.of(), args)) {
        await().atMost(LONG).until(() -> game.dirtyRows() > 0 || !tool.isAlive());
        assertTrue(tool.isAlive(), Files.readString(output));
        tool.kill();
      }
      long rows = game.dirtyRows();
      assertTrue(rows > 0 && rows < OWNERS * ROWS, "killed after " + rows + " rows");
      assertEquals(0, rows % ROWS, "an owner's rows become visible together");
      Run again = game.run("replay --execute");
      assertEquals(ExitCodes.OK, again.exitCode(), again::toString);
      assertEquals(OWNERS * ROWS, game.dirtyRows());
      assertEquals(VerifyCommand.KEEP_THE_WALS, game.run("verify").exitCode());
    }
  }

  private static void play(GameQueue queue) throws InterruptedException {
    List<CommitReceipt> receipts = new ArrayList<>();
    for (int p = 0; p < OWNERS; p++) {
      OwnerSession player = queue.open("player:" + p);
      for (int slot = 0; slot < ROWS; slot++) {
        player.put(new Item(p, slot, 1, 1));
        receipts.add(player.commit());
      }
    }
    for (CommitReceipt receipt : receipts) {
      receipt.awaitQueued(LONG);
    }
  }
}
