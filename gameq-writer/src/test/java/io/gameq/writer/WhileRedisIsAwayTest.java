package io.gameq.writer;

import static io.gameq.servers.Waits.LONG;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.gameq.CommitReceipt;
import io.gameq.GameQueue;
import io.gameq.OwnerSession;
import io.gameq.OwnershipLostException;
import io.gameq.QueueFullException;
import io.gameq.RedisUnavailableException;
import io.gameq.config.WhenRedisIsAway;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** Redis is away and loses nothing: commits wait in the journal, within limits, or fail at once. */
@Execution(ExecutionMode.CONCURRENT)
class WhileRedisIsAwayTest extends RedisLossFixture {
  @Test
  void commitsMadeWhileRedisIsAwayAreJournaledAndSucceedLate() throws Exception {
    try (GameQueue queue = nodeBehindProxy("n1");
        GameQueue reader = game.node("n2")) {
      OwnerSession player = queue.open("player:1");
      OwnerSession taken = queue.open("player:2");
      queued(player, new Pet(1, 1, "v0"));
      cutOff();
      List<CommitReceipt> receipts = new ArrayList<>();
      for (int i = 1; i <= 2_000; i++) {
        receipts.add(commit(player, new Pet(1, 1, "v" + i)));
      }
      receipts.get(1_999).journaled().get(LONG.toSeconds(), TimeUnit.SECONDS);
      CommitReceipt refused = commit(taken, new Pet(2, 2, "late"));
      refused.journaled().get(LONG.toSeconds(), TimeUnit.SECONDS);
      assertFalse(receipts.get(0).queued().isDone());
      reader.open("player:2");
      proxy.refuse(false);
      for (CommitReceipt receipt : receipts) {
        receipt.awaitQueued(LONG);
      }
      assertEquals(List.of(new Pet(1, 1, "v2000")), reader.read("player:1", Pet.class));
      assertThrows(OwnershipLostException.class, () -> refused.awaitQueued(LONG));
    }
  }

  @Test
  void theJournalHasLimits() throws Exception {
    try (GameQueue queue =
        GameQueue.open(
            behindProxy("n1")
                .maxInFlight(1, 8 << 20, Duration.ZERO)
                .maxJournal(9, 8 << 20, Duration.ofSeconds(8)) // ten commits fit in on any machine
                .build())) {
      OwnerSession player = queue.open("player:1");
      queued(player, new Pet(1, 1, "v0"));
      cutOff();
      List<CommitReceipt> receipts = new ArrayList<>();
      await()
          .atMost(LONG)
          .ignoreExceptionsInstanceOf(QueueFullException.class)
          .until(
              () -> {
                receipts.add(commit(player, new Pet(1, 1, "v")));
                return receipts.size() == 10;
              });
      assertThrows(QueueFullException.class, () -> commit(player, new Pet(1, 1, "v")));
      await()
          .atMost(LONG)
          .untilAsserted(
              () ->
                  assertThrows(
                      RedisUnavailableException.class, () -> commit(player, new Pet(1, 1, "v"))));
      proxy.refuse(false);
      for (CommitReceipt receipt : receipts) {
        receipt.awaitQueued(LONG);
      }
      await()
          .atMost(LONG)
          .ignoreExceptions()
          .until(
              () -> {
                queued(player, new Pet(1, 1, "after"));
                return true;
              });
    }
  }

  @Test
  void commitsFailAtOnceWhileRedisIsAwayWhenThePolicySaysSo() throws Exception {
    try (GameQueue queue =
        GameQueue.open(behindProxy("n1").whenRedisIsAway(WhenRedisIsAway.FAIL).build())) {
      OwnerSession player = queue.open("player:1");
      queued(player, new Pet(1, 1, "v0"));
      cutOff();
      await()
          .atMost(LONG)
          .untilAsserted(
              () ->
                  assertThrows(
                      RedisUnavailableException.class, () -> commit(player, new Pet(1, 1, "v1"))));
      proxy.refuse(false);
      await()
          .atMost(LONG)
          .ignoreExceptionsInstanceOf(RedisUnavailableException.class)
          .until(
              () -> {
                queued(player, new Pet(1, 1, "v2"));
                return true;
              });
    }
  }

  @Test
  void aConnectionThatBrokeAMomentAgoFailsNoLoginAndNoRead() {
    try (GameQueue queue = nodeBehindProxy("n1")) {
      queued(queue.open("player:1"), new Pet(1, 1, "v1"));
      for (int i = 0; i < 20; i++) {
        proxy.cut();
        assertEquals(1, queue.read("player:1", Pet.class).size());
        proxy.cut();
        assertEquals(1, queue.open("player:1").rows(Pet.class).size());
      }
    }
  }
}
