package io.gameq.writer;

import static io.gameq.servers.Waits.LONG;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.gameq.CommitReceipt;
import io.gameq.GameQueue;
import io.gameq.GameQueueException;
import io.gameq.OwnerSession;
import io.gameq.message.MessageChange;
import io.gameq.node.NodeAccess;
import io.gameq.redis.topic.ConsumerScripts.TakenMessage;
import io.gameq.wal.WalDirectory;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * A node dies while a commit with rows and messages is on its way, at every step, and starts again:
 * both are there, or neither.
 */
@Tag("long")
@Execution(ExecutionMode.CONCURRENT)
class KilledPublishTest extends MessagesFixture {
  /** A node that cannot reach Redis is not waited for. */
  private static final Duration SHORT = Duration.ofSeconds(1);

  /** Where the commit is when its node dies, and what Redis does besides. */
  enum Killed {
    STAGED(false),
    IN_THE_WAL(true),
    IN_REDIS_WITHOUT_ANSWER(true),
    ANSWERED(true),
    ANSWERED_AND_FORGOTTEN(true),
    ANSWERED_AND_ALL_FORGOTTEN(true);

    final boolean isThere;

    Killed(boolean isThere) {
      this.isThere = isThere;
    }
  }

  @ParameterizedTest
  @EnumSource
  void bothAreThereOrNeither(Killed killed) throws Exception {
    RedisContents replica;
    try (GameQueue queue = GameQueue.open(behindProxy("n1").callTimeout(SHORT).build())) {
      OwnerSession player = queue.open("player:1");
      queued(player, new Pet(1, 1, "before"));
      published(queue, "to handle", "x");
      TakenMessage taken = takeAll(600_000).get(0);
      replica = RedisContents.of(redis, game.namespace);

      if (killed == Killed.IN_THE_WAL) {
        proxy.holdRequests();
      } else if (killed == Killed.IN_REDIS_WITHOUT_ANSWER) {
        proxy.dropReplies();
      }
      player.put(new Pet(2, 1, "committed"));
      NodeAccess.stage(player, publish("published", "y"));
      if (killed != Killed.STAGED) {
        commitWith(queue, player, ack(taken), killed);
      }
      proxy.refuse(true); // the end of this node, as Redis sees it
      proxy.cut();
      if (killed == Killed.ANSWERED_AND_FORGOTTEN) {
        replica.restore();
      } else if (killed == Killed.ANSWERED_AND_ALL_FORGOTTEN) {
        RedisContents.empty(redis, game.namespace).restore();
      }
    } catch (GameQueueException e) {
      // it could not close its sessions
    }
    await()
        .atMost(LONG)
        .until(() -> WalDirectory.left(walDirectory, "n1").size() == 1); // nobody writes
    try (GameQueue again = game.node("n1")) { // replays the WAL that was left
      Map<String, String> expected = killed.isThere ? Map.of("published", "y") : Map.of();
      assertEquals(expected, pending(), killed.name());
      assertEquals(
          killed.isThere
              ? Set.of(new Pet(1, 1, "before"), new Pet(2, 1, "committed"))
              : Set.of(new Pet(1, 1, "before")),
          Set.copyOf(again.read("player:1", Pet.class)));
      assertTrue(takeAll(600_000).size() <= 1, "what was acknowledged is not handled again");
    }
  }

  private void commitWith(GameQueue queue, OwnerSession player, MessageChange ack, Killed killed) {
    CommitReceipt receipt = NodeAccess.messages(queue).commit(List.of(ack), player);
    if (killed == Killed.IN_THE_WAL) {
      receipt.journaled().join();
    } else if (killed == Killed.IN_REDIS_WITHOUT_ANSWER) {
      await().atMost(LONG).until(() -> pending().containsKey("published"));
    } else {
      receipt.awaitQueued(LONG);
    }
  }
}
