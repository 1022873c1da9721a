package io.gameq.recovery;

import static io.gameq.servers.Waits.LONG;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.gameq.CommitReceipt;
import io.gameq.GameQueue;
import io.gameq.OwnerSession;
import io.gameq.healing.Lookups;
import io.gameq.healing.PlannedRow.Status;
import io.gameq.healing.Planner;
import io.gameq.healing.WalFolder.WalSet;
import io.gameq.recovery.RecoveryGame.Item;
import io.gameq.recovery.mysql.RecoveryDatabase;
import io.gameq.redis.SlotKeys;
import io.gameq.rights.MySqlRights.Role;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** More rows than memory may hold at a time. */
class PlannerGroupsTest {
  private static final int OWNERS = 30;
  private static final int ROWS = 20;

  @TempDir Path directory;

  @Test
  void everyRowIsPlannedOnceWhateverFitsIntoMemory() throws Exception {
    try (RecoveryGame game = new RecoveryGame(directory)) {
      try (GameQueue queue = game.node("n1")) {
        play(queue);
      }
      try (RecoveryDatabase database =
          RecoveryDatabase.open(game.database.as(Role.RECOVERY).config(1))) {
        WalSet wals = WalSet.open(List.of(game.wal));
        Set<String> rows = new HashSet<>();
        int[] readings = {0};
        new Planner(
                wals,
                new Lookups(
                    database.rows(), null, SlotKeys.all(game.namespace, RecoveryGame.SLOTS)),
                new Planner.Options(Set.of(), false, false, false),
                step -> readings[0] += step.startsWith("reading") ? 1 : 0)
            .withMostBytes(100_000)
            .plan(
                row -> {
                  assertTrue(rows.add(row.change().key()), row.change().key());
                  assertEquals(Status.LOST, row.status());
                });
        assertEquals(OWNERS * ROWS, rows.size());
        assertTrue(readings[0] > 2, "readings: " + readings[0]);
      }
    }
  }

  private static void play(GameQueue queue) throws InterruptedException {
    for (int p = 0; p < OWNERS; p++) {
      OwnerSession player = queue.open("player:" + p);
      CommitReceipt last = null;
      for (int i = 0; i < 2 * ROWS; i++) {
        player.put(new Item(p, i % ROWS, 1, i));
        last = player.commit();
      }
      if (last != null) {
        last.awaitQueued(LONG);
      }
    }
  }
}
