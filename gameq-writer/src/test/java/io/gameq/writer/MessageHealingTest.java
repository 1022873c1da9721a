package io.gameq.writer;

import static io.gameq.servers.Waits.LONG;
import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.gameq.CommitReceipt;
import io.gameq.GameQueue;
import io.gameq.OwnerSession;
import io.gameq.OwnershipLostException;
import io.gameq.message.MessageChange;
import io.gameq.message.MessageChange.MessageChangedException;
import io.gameq.message.MessageChange.MessageId;
import io.gameq.node.NodeAccess;
import io.gameq.redis.SlotKeys;
import io.gameq.redis.script.JournalMarks;
import io.gameq.redis.topic.ConsumerScripts.TakenMessage;
import io.gameq.servers.Trap;
import io.gameq.topic.ClaimLostException;
import io.gameq.writer.service.WriterService;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/**
 * Messages are committed with rows or without, each exactly once though answers are lost, and what
 * a failover of Redis forgets of them is put back.
 */
@Execution(ExecutionMode.CONCURRENT)
class MessageHealingTest extends MessagesFixture {
  private void awaitPending(Map<String, String> expected) {
    await().atMost(LONG).untilAsserted(() -> assertEquals(expected, pending()));
  }

  @Test
  void manyCommitsOfMessagesAndOfRowsTravelTogetherAndEachIsTold() throws Exception {
    try (GameQueue queue = game.node("n1")) {
      OwnerSession player = queue.open("player:1");
      List<CommitReceipt> receipts = new ArrayList<>();
      CompletableFuture<String> told = new CompletableFuture<>();
      for (int i = 0; i < 300; i++) {
        receipts.add(commit(queue, publish("m" + i % 100, "v" + i)));
        receipts.add(commit(player, new Pet(1, 1, "v" + i)));
        NodeAccess.stage(player, publish("staged", "v" + i));
        receipts.add(commit(player, new Pet(2, 1, "v" + i)));
      }
      NodeAccess.messages(queue)
          .commit(List.of(publish("told", "x")), failure -> told.complete(failure + ""));
      NodeAccess.stage(player, publish("alone in a session", "y"));
      receipts.add(player.commit());
      for (CommitReceipt receipt : receipts) {
        receipt.awaitQueued(LONG);
      }
      receipts.get(0).awaitDurable(LONG); // of messages alone: as soon as Redis has it
      receipts.get(receipts.size() - 1).awaitDurable(LONG);
      assertEquals("null", told.join());
      Map<String, String> pending = pending();
      assertEquals(103, pending.size());
      assertEquals("v299", pending.get("m99"));
      assertEquals("v299", pending.get("staged"));
      assertEquals(
          List.of(new Pet(1, 1, "v299"), new Pet(2, 1, "v299")), queue.read("player:1", Pet.class));
    }
  }

  @Test
  void whatARefusedSessionOrALostClaimCommitsIsAppliedInNoPart() throws Exception {
    try (GameQueue one = game.node("n1");
        GameQueue two = game.node("n2")) {
      OwnerSession old = one.open("player:1");
      OwnerSession other = one.open("player:2");
      published(one, "mail", "to handle");
      TakenMessage stalled = takeAll(1).get(0);
      await().atMost(LONG).until(() -> !takeAll(60_000).isEmpty()); // its lease ran out

      other.put(new Pet(2, 2, "handled"));
      NodeAccess.stage(other, publish("next", "x"));
      CommitReceipt lost = NodeAccess.messages(one).commit(List.of(ack(stalled)), other);
      ClaimLostException claim =
          assertThrows(ClaimLostException.class, () -> lost.awaitQueued(LONG));
      assertTrue(claim.getMessage().contains("mail"), claim::getMessage);
      assertThrows(
          MessageChangedException.class,
          () ->
              commit(
                      one,
                      new MessageChange.Expect(id("next"), slot(id("next")), 77),
                      publish("next", "x"))
                  .awaitQueued(LONG));
      two.open("player:1");
      old.put(new Pet(1, 1, "late"));
      NodeAccess.stage(old, publish("late", "x"));
      CommitReceipt refused = old.commit();
      assertThrows(OwnershipLostException.class, () -> refused.awaitQueued(LONG));
      published(one, "after", "y"); // what was refused holds up nothing
      assertEquals(Map.of("after", "y"), pending());
      assertMarksProve();
      assertEquals(List.of(), two.read("player:1", Pet.class));
      assertEquals(List.of(), two.read("player:2", Pet.class));
    }
  }

  @Test
  void aDeleteWithRowsIsKeptByAFailoverAndIsRefusedWithThem() throws Exception {
    try (GameQueue queue = nodeBehindProxy("n1");
        GameQueue other = game.node("n2")) {
      OwnerSession player = queue.open("player:1");
      published(queue, "timer", "x");
      RedisContents replica = RedisContents.of(redis, game.namespace);
      NodeAccess.stage(player, delete("timer"));
      queued(player, new Pet(1, 1, "back"));
      assertEquals(Map.of(), pending());
      loseAllSince(replica);
      published(queue, "second", "x");
      awaitPending(Map.of("second", "x"));
      assertEquals(List.of(new Pet(1, 1, "back")), queue.read("player:1", Pet.class));
      other.open("player:1");
      player.put(new Pet(1, 1, "late"));
      NodeAccess.stage(player, delete("second"));
      assertThrows(OwnershipLostException.class, () -> player.commit().awaitQueued(LONG));
      assertEquals(Map.of("second", "x"), pending());
      assertEquals(List.of(new Pet(1, 1, "back")), other.read("player:1", Pet.class));
    }
  }

  private static MessageChange delete(String key) {
    return new MessageChange.Delete(id(key), slot(id(key)));
  }

  @Test
  void aMessageWhoseAnswerIsLostIsPublishedOnceThoughItWasHandledMeanwhile() throws Exception {
    try (GameQueue queue = nodeBehindProxy("n1")) {
      OwnerSession player = queue.open("player:1");
      published(queue, "first", "x");
      proxy.dropReplies();
      CommitReceipt alone = commit(queue, publish("alone", "x"));
      await().atMost(LONG).until(() -> pending().containsKey("alone"));
      NodeAccess.stage(player, publish("with rows", "x"));
      CommitReceipt rows = commit(player, new Pet(1, 1, "x"));
      for (int i = 0; i < 64; i++) { // so many that they do not wait for the answer
        commit(player, new Pet(2, 1, "x"));
      }
      await().atMost(LONG).until(() -> pending().containsKey("with rows"));
      handledElsewhere("alone");
      handledElsewhere("with rows");
      proxy.cut();
      proxy.heal();
      alone.awaitQueued(LONG);
      rows.awaitQueued(LONG);
      published(queue, "last", "x");
      assertEquals(Map.of("first", "x", "last", "x"), pending());
    }
  }

  @Test
  void aFailoverThatForgetsLosesNoMessageAndBringsNoneBackThatWasHandled() throws Exception {
    try (GameQueue queue = nodeBehindProxy("n1")) {
      OwnerSession player = queue.open("player:1");
      for (int i = 0; i < 20; i++) {
        published(queue, "kept " + i, "x");
      }
      RedisContents replica = RedisContents.of(redis, game.namespace);
      List<TakenMessage> taken = takeAll(60_000);
      assertEquals(20, taken.size());
      List<MessageChange> acks = taken.stream().map(MessagesFixture::ack).toList();
      NodeAccess.messages(queue).commit(acks.subList(0, 19)).awaitQueued(LONG);
      player.put(new Pet(7, 1, "handled"));
      NodeAccess.messages(queue).commit(acks.subList(19, 20), player).awaitQueued(LONG);
      published(queue, "forgotten", "x");
      MessageId id = id("forgotten");
      commit(queue, new MessageChange.Retime(id, slot(id), 9_000)).awaitQueued(LONG);
      NodeAccess.stage(player, publish("with rows", "y"));
      queued(player, new Pet(8, 1, "y"));
      loseAllSince(replica);
      awaitPending(Map.of("forgotten", "x", "with rows", "y"));
      await().atMost(LONG).until(() -> due("forgotten") == 9_000);
      try (WriterService writer = game.writer("w1")) {
        assertEquals(java.util.Set.of(), queue.drain(LONG));
        assertEquals("2", game.queryText("SELECT COUNT(*) FROM pet"));
      }
      published(queue, "after", "z");
      loseAllSince(RedisContents.empty(redis, game.namespace));
      awaitPending(Map.of("forgotten", "x", "with rows", "y", "after", "z"));
      await().atMost(LONG).until(() -> due("forgotten") == 9_000);
    }
  }

  /** Else the node's WAL, replayed by another process, would lack a part of that commit. */
  @Test
  void acknowledgementsThatAreSentAgainFirstMoveNoMarkPastWhatIsStillToBeSent() throws Exception {
    try (GameQueue queue = nodeBehindProxy("n1")) {
      published(queue, "handled", "x");
      TakenMessage taken = takeAll(60_000).get(0);
      String late =
          IntStream.iterate(0, i -> i + 1)
              .mapToObj(i -> "late" + i)
              .filter(key -> slot(id(key)) == taken.slot())
              .findFirst()
              .orElseThrow();
      RedisContents replica = RedisContents.of(redis, game.namespace);
      long held = mark(taken.slot());
      proxy.dropReplies();
      CommitReceipt published = commit(queue, publish(late, "x"));
      CommitReceipt acknowledged = commit(queue, ack(taken));
      awaitPending(Map.of(late, "x"));
      cutOff();
      replica.restore();

      List<Long> marks = new ArrayList<>();
      Runnable look = () -> marks.add(mark(taken.slot()));
      Trap second = Trap.beforeRequest(late, 0, look).thenDeliver();
      proxy.heal(
          Trap.beforeRequest(
              late,
              0,
              () -> {
                look.run();
                proxy.set(second); // the connection is cut, and the healing begins again
              }));
      second.await();
      acknowledged.awaitQueued(LONG);
      published.awaitQueued(LONG);
      assertEquals(List.of(held, held), marks);
      assertEquals(Map.of(late, "x"), pending());
    }
  }

  /** The sequence up to which the only node's mark proves that Redis holds all of a slot. */
  private long mark(int slot) {
    byte[] journal = SlotKeys.all(game.namespace, Game.SLOTS)[slot].journal();
    String mark = new String(redis.sync().hvals(journal).get(0), US_ASCII);
    return JournalMarks.parse(List.of(mark), "").sequence(0);
  }

  @Test
  void whatWasRefusedIsNotPutBackByAHealing() throws Exception {
    try (GameQueue queue = nodeBehindProxy("n1")) {
      published(queue, "before", "x");
      MessageChange never = new MessageChange.Expect(id("m"), slot(id("m")), 77);
      CommitReceipt refused = commit(queue, never, publish("m", "refused"));
      assertThrows(MessageChangedException.class, () -> refused.awaitQueued(LONG));
      loseAllSince(RedisContents.empty(redis, game.namespace));
      awaitPending(Map.of("before", "x"));
      published(queue, "after", "x");
      assertEquals(Map.of("before", "x", "after", "x"), pending());
    }
  }

  @Test
  void aRedisThatWasEmptiedUnderALivingConnectionIsNoticedByTheNextMessages() throws Exception {
    try (GameQueue queue = nodeBehindProxy("n1")) {
      for (int i = 0; i < 10; i++) {
        published(queue, "forgotten " + i, "x");
      }
      RedisContents.empty(redis, game.namespace).restore();
      for (int i = 0; i < 10; i++) { // moves the marks in every slot
        published(queue, "after " + i, "y");
      }
      proxy.cut();
      await().atMost(LONG).untilAsserted(() -> assertEquals(20, pending().size()));
    }
  }

  @Test
  void messagesOfACommitWhoseRowsAreLostForGoodAreLostWithThem() throws Exception {
    try (GameQueue one = nodeBehindProxy("n1");
        GameQueue two = game.node("n2")) {
      OwnerSession player = one.open("player:1");
      RedisContents replica = RedisContents.of(redis, game.namespace);
      NodeAccess.stage(player, publish("paid", "x"));
      queued(player, new Pet(1, 1, "paid"));
      published(one, "free", "y");
      cutOff();
      replica.restore();
      two.open("player:1");
      proxy.refuse(false);
      awaitPending(Map.of("free", "y"));
      await().atMost(LONG).until(() -> !conflicts.isEmpty());
      await()
          .during(Duration.ofMillis(300))
          .untilAsserted(() -> assertEquals(Map.of("free", "y"), pending()));
    }
  }
}
