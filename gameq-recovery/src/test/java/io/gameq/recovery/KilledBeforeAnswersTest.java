package io.gameq.recovery;

import static io.gameq.servers.Waits.LONG;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.gameq.CommitReceipt;
import io.gameq.GameQueue;
import io.gameq.OwnerSession;
import io.gameq.recovery.RecoveryGame.Item;
import io.gameq.topic.Publish;
import io.gameq.topic.Topic;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/**
 * A node is killed before it hears that Redis has refused a commit, or lost one beneath its
 * connection, and later commits of the same slot arrive all the same: what its next start makes of
 * that.
 */
@Execution(ExecutionMode.CONCURRENT)
class KilledBeforeAnswersTest extends LeftWalFixture {
  record Text(String text) {}

  private static Item row(int player) {
    return new Item(player, 1, 1_001, 1);
  }

  private static CommitReceipt put(OwnerSession session, int player) {
    session.put(row(player));
    return session.commit();
  }

  /** So many that they do not wait for an answer that never comes. */
  private static void putMany(OwnerSession session, Item row) {
    for (int i = 0; i < 64; i++) {
      session.put(row);
      session.commit();
    }
  }

  private void awaitRows(int player) {
    await().atMost(LONG).until(() -> !game.keys(":dirty:player%3A" + player + ":*").isEmpty());
  }

  @Test
  void theMessagesOfACommitWhoseRowsWereRefusedDoNotComeBack() throws Exception {
    GameQueue queue = openBehindProxy();
    Topic<Text> topic = queue.topic("work", Text.class);
    OwnerSession taken = queue.open("player:1");
    OwnerSession stays = queue.open("player:" + neighbour());
    proxy.dropReplies();
    try (GameQueue two = game.node("n2")) {
      two.open("player:1");
      taken.put(row(1));
      taken.publish(topic, Publish.of("building", new Text("that nobody paid for")));
      taken.commit();
      putMany(stays, row(neighbour()));
      awaitRows(neighbour()); // it moved the journal mark
      leaveWal();
    }
    try (GameQueue again = game.node("n1")) {
      assertEquals(List.of(), game.keys(":t:work:msg"));
      assertEquals(List.of(), again.read("player:1", Item.class));
      assertEquals(List.of(row(neighbour())), again.read("player:" + neighbour(), Item.class));
    }
  }

  @Test
  void whatWasLostBeneathTheConnectionIsPutBackThoughALaterCommitReachedTheSlot() throws Exception {
    GameQueue queue = openBehindProxy();
    Topic<Text> topic = queue.topic("work", Text.class);
    OwnerSession lost = queue.open("player:1");
    OwnerSession later = queue.open("player:" + neighbour());
    put(lost, 1).awaitQueued(LONG);
    topic.publish("lost", new Text("x")).awaitQueued(LONG);
    proxy.dropReplies();
    game.loseRedis();
    put(later, neighbour());
    awaitRows(neighbour());
    leaveWal();
    try (GameQueue again = game.node("n1")) {
      assertEquals(List.of(row(1)), again.read("player:1", Item.class));
      assertEquals(List.of(row(neighbour())), again.read("player:" + neighbour(), Item.class));
      assertEquals(1, game.keys(":t:work:msg").size());
    }
  }

  @Test
  void aTradeIsPutBackWholeThoughItsAnswerWasLostAndAFailoverForgotIt() throws Exception {
    GameQueue queue = openBehindProxy();
    OwnerSession giver = queue.open("player:1");
    OwnerSession taker = queue.open("player:" + neighbour());
    giver.put(new RecoveryGame.Pet(1, 1, "sword"));
    giver.commit().awaitQueued(LONG);
    proxy.dropReplies();
    giver.move(new RecoveryGame.Pet(1, neighbour(), "sword"), taker);
    queue.commit(giver, taker);
    await().atMost(LONG).until(() -> !game.keys(":dirty:player%3A" + neighbour() + ":*").isEmpty());
    game.loseRedis();
    putMany(taker, row(neighbour()));
    awaitRows(neighbour());
    leaveWal();
    try (GameQueue again = game.node("n1")) {
      assertEquals(List.of(), again.read("player:1", RecoveryGame.Pet.class));
      assertEquals(
          List.of(new RecoveryGame.Pet(1, neighbour(), "sword")),
          again.read("player:" + neighbour(), RecoveryGame.Pet.class));
    }
  }

  @Test
  void aTradeThatRedisRefusedIsNeitherPutBackNorReported() throws Exception {
    GameQueue queue = openBehindProxy();
    OwnerSession stays = queue.open("player:1");
    OwnerSession taken = queue.open("player:" + neighbour());
    proxy.dropReplies();
    try (GameQueue two = game.node("n2")) {
      two.open("player:" + neighbour());
      stays.put(row(1));
      taken.put(row(neighbour()));
      queue.commit(stays, taken);
      putMany(stays, new Item(1, 2, 1_001, 1));
      awaitRows(1); // it moved the journal mark
      leaveWal();
    }
    try (GameQueue again = game.node("n1")) {
      assertEquals(List.of(new Item(1, 2, 1_001, 1)), again.read("player:1", Item.class));
      assertEquals(List.of(), again.read("player:" + neighbour(), Item.class));
      RecoveryGame.Run plan = game.run("plan --include-live", List.of(game.wal.toString()));
      assertTrue(plan.says("0  CONFLICTS"), plan::toString);
      assertTrue(plan.says("0  LOST"), plan::toString);
    }
  }
}
