package io.gameq.recovery;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.gameq.change.ChangedRow;
import io.gameq.change.Commit.CommitPart;
import io.gameq.config.WalLimits;
import io.gameq.owner.OwnerId;
import io.gameq.owner.SessionId;
import io.gameq.owner.SessionRef;
import io.gameq.terminal.ExitCodes;
import io.gameq.wal.WalWriter;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class InspectCommandTest {
  @TempDir Path parent;

  private final StringWriter out = new StringWriter();

  private int run(String... args) {
    return RecoveryMain.run(new PrintWriter(out), new PrintWriter(out), System::getenv, args);
  }

  @Test
  void saysWhatAWalHolds() {
    Path directory;
    try (WalWriter wal =
        WalWriter.create(
            new WalWriter.Start(
                parent, "game", 16, "0db", "node-1", "0badcafe", 1_790_000_000_000L),
            WalLimits.DEFAULT,
            List.of())) {
      directory = wal.directory();
      SessionRef session =
          new SessionRef(OwnerId.of("player:1"), new SessionId(3, "0badcafe00000001"), 1);
      wal.appendAdopted(
          new CommitPart(
              session,
              List.of(
                  new ChangedRow(
                      "item:1", "0000000000000000p".getBytes(StandardCharsets.US_ASCII)))));
    }
    assertEquals(ExitCodes.OK, run("inspect", directory.toString()));
    assertTrue(
        out.toString().contains("node node-1, namespace game, 16 slots, started 2026-09-21"),
        out::toString);
    assertTrue(
        out.toString()
            .contains(
                "2 records, sequences 1 to 2: 0 commits with 0 row changes, 0 failed; 1 row"
                    + " adopted"),
        out::toString);
  }

  @Test
  void aDirectoryThatIsNoWalIsNamed() {
    assertEquals(ExitCodes.COULD_NOT_RUN, run("inspect", parent.toString()));
    assertTrue(out.toString().contains("is no WAL"), out::toString);
  }

  @Test
  void withoutAWalTheUsageIsShown() {
    assertEquals(ExitCodes.COULD_NOT_RUN, run("inspect"));
  }
}
