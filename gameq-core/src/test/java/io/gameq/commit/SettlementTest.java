package io.gameq.commit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.gameq.CommitUnknownException;
import io.gameq.RedisFullException;
import io.gameq.change.ChangedRow;
import io.gameq.change.Commit;
import io.gameq.change.Commit.CommitPart;
import io.gameq.config.WalLimits;
import io.gameq.config.WhenRedisIsAway;
import io.gameq.owner.OwnerId;
import io.gameq.owner.SessionId;
import io.gameq.owner.SessionRef;
import io.gameq.redis.SlotKeys;
import io.gameq.redis.script.CommitGroup;
import io.gameq.sign.NodeCounts;
import io.gameq.topic.Limits;
import io.gameq.wal.WalReader;
import io.gameq.wal.WalRecord;
import io.gameq.wal.WalWriter;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class SettlementTest {
  private static final String REFUSAL = "OOM command not allowed when used memory > 'maxmemory'.";

  @TempDir Path directory;

  private final List<RuntimeException> told = new ArrayList<>();
  private final NodeCounts counts = new NodeCounts();
  private WalWriter wal;
  private Settlement settlement;

  @BeforeEach
  void start() {
    WalLimits limits = WalLimits.DEFAULT;
    wal =
        WalWriter.create(
            new WalWriter.Start(directory, "game", 16, "0db", "n1", "0badcafe", 1_790_000_000_000L),
            WalLimits.of(limits.keep(), limits.maxBytes(), 0, limits.sync()),
            List.of());
    settlement =
        new Settlement(
            new CommitQueue(Limits.DEFAULT, WhenRedisIsAway.JOURNAL),
            wal,
            counts,
            new RecentMessages(Duration.ofMinutes(10)));
  }

  private Commit appended() {
    SessionRef session =
        new SessionRef(OwnerId.of("player:1"), new SessionId(3, "0badcafe00000001"), 1);
    byte[] image = SlotKeys.bytes("0000000000000000p" + "x");
    Commit commit =
        new Commit(List.of(new CommitPart(session, List.of(new ChangedRow("pet:1", image))))) {
          @Override
          public void queued() {}

          @Override
          public void failed(RuntimeException reason) {
            told.add(reason);
          }
        };
    wal.append(commit);
    return commit;
  }

  @Test
  void aFailureIsMarkedInTheWalBeforeItIsTold() {
    Commit commit = appended();
    settlement.failed(commit, Settlement.reason(new CommitGroup.RefusedBy(REFUSAL)));
    assertInstanceOf(RedisFullException.class, told.get(0));
    wal.close();
    List<WalRecord> marks = new ArrayList<>();
    WalReader.read(
        wal.directory(),
        entry -> {
          if (entry.record() instanceof WalRecord.Failed) {
            marks.add(entry.record());
          }
        });
    assertEquals(List.of(new WalRecord.Failed(commit.sequence())), marks);
  }

  @Test
  void aFailureThatTheWalCannotBeToldIsUnknown() {
    Commit commit = appended();
    wal.close();
    settlement.failed(commit, Settlement.reason(new CommitGroup.RefusedBy(REFUSAL)));
    RuntimeException reason = told.get(0);
    assertInstanceOf(CommitUnknownException.class, reason);
    assertTrue(String.valueOf(reason.getMessage()).contains("pet:1"), reason::toString);
    assertInstanceOf(RedisFullException.class, reason.getSuppressed()[0]);
  }
}
