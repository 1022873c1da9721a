package io.gameq.redis.topic;

import static io.gameq.redis.topic.ScriptedTopic.ack;
import static io.gameq.redis.topic.ScriptedTopic.id;
import static io.gameq.redis.topic.ScriptedTopic.payload;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.gameq.healing.LeftMessages;
import io.gameq.message.MessageChange;
import io.gameq.message.MessageId;
import io.gameq.message.MessageValue;
import io.gameq.redis.SlotKeys;
import io.gameq.redis.script.MessageCommit;
import io.gameq.redis.script.MessageMarks;
import io.gameq.redis.script.MessagesScript;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Commits that are sent again, or come out of a WAL. */
class MessageReplayTest {
  private static final MessageId A = id("a");

  private final ScriptedTopic topic = new ScriptedTopic();
  private final long past = topic.now() - 100_000;

  @AfterEach
  void close() {
    topic.close();
  }

  private MessageMarks.Marks marks() {
    return MessageMarks.read(topic.redis, topic.slots, topic.walId)[A.slot(4)];
  }

  /** As another node, which has a WAL of its own. */
  private void as(String walId) {
    topic.walId = walId;
  }

  @Test
  void aReplayedPublishIsDroppedWhereTheSameOrANewerOneIsPendingOrHeldOrOver() {
    MessageCommit one = topic.commit(10, 10, topic.publish(A, "one", past));
    MessageCommit two = topic.commit(11, 20, topic.publish(A, "two", past));
    topic.replay(two);
    as("other-bbbbbbbb");
    topic.replay(one);
    assertEquals("two", topic.pending(A));
    TakenMessage taken = topic.takeOne();
    as("third-cccccccc");
    topic.replay(one, two);
    assertEquals("none", topic.pending(A), "the same is held");
    topic.send(ack(taken));
    as("fourth-dddddddd");
    MessageCommit acked = topic.commit(9, 30, ack(taken));
    topic.replay(acked);
    topic.replay(one, two);
    assertTrue(topic.find(A).isNowhere(), "it was handled, a replay said");
    as("fifth-eeeeeeee");
    topic.replay(topic.commit(9, 40, topic.publish(A, "newer", past)));
    assertEquals("newer", topic.pending(A));
  }

  @Test
  void aReplayedAckOrDeleteEndsWhatIsThereWhateverTheToken() {
    topic.replay(topic.commit(10, 10, topic.publish(A, "one", past)));
    TakenMessage before = topic.takeLate();
    TakenMessage after = topic.takeOne();
    as("other-bbbbbbbb");
    topic.replay(topic.commit(10, 50, ack(before)));
    assertTrue(topic.find(A).isNowhere());
    assertEquals(1, topic.send(ack(after)).size(), "its claim is gone");
    as("third-cccccccc");
    topic.replay(topic.commit(10, 60, topic.publish(A, "two", past)));
    as("fourth-dddddddd");
    topic.replay(topic.commit(10, 55, topic.delete(A)));
    assertEquals("two", topic.pending(A), "published after it was deleted");
    topic.replay(topic.commit(11, 70, topic.delete(A)));
    assertTrue(topic.find(A).isNowhere());
    as("fifth-eeeeeeee");
    topic.replay(topic.commit(10, 60, topic.publish(A, "two", past)));
    assertTrue(topic.find(A).isNowhere());
  }

  /** Whether the replay of an acknowledgement counts, with what stands or falls with it. */
  private boolean counts(String walId, MessageChange.Ack ack) {
    as(walId);
    MessageId follows = id("follows " + walId);
    List<MessagesScript.Refused> refused =
        topic.replay(topic.commit(10, 50, ack, topic.publish(follows, "next", past + 200_000)));
    refused.forEach(of -> assertEquals(MessagesScript.Kind.CLAIM_LOST, of.kind()));
    assertEquals(refused.isEmpty() ? "next" : "none", topic.pending(follows));
    return refused.isEmpty();
  }

  @Test
  void aReplayedAckIsRefusedWhereAnotherEndedTheMessageAfterItsLeaseRanOut() {
    topic.replay(topic.commit(10, 10, topic.publish(A, "one", past)));
    TakenMessage first = topic.takeLate();
    TakenMessage second = topic.takeLate();
    TakenMessage third = topic.takeOne();
    assertEquals(List.of(), topic.send(ack(third)));
    assertFalse(counts("first-aaaaaaa1", ack(first)));
    assertFalse(counts("second-bbbbbb1", ack(second)));
    assertTrue(counts("third-ccccccc1", ack(third)), "it was this one");
    as("fourth-dddddddd");
    topic.replay(topic.commit(10, 60, topic.publish(A, "two", past)));
    topic.takeLate();
    topic.send(ack(topic.takeOne()));
    assertFalse(counts("first-aaaaaaa2", ack(first)), "still, after a newer one");
  }

  @Test
  void ofTwoThatNobodyAnsweredTheFirstReplayCounts() {
    topic.replay(topic.commit(10, 10, topic.publish(A, "one", past)));
    TakenMessage first = topic.takeLate();
    TakenMessage second = topic.takeLate();
    assertEquals(0, topic.take(topic.slot(A), 0, 0).taken().size(), "its lease ends");
    for (int turn = 0; turn < 2; turn++) {
      assertTrue(counts("second-bbbbbbb" + turn, ack(second)));
      assertTrue(topic.find(A).isNowhere());
      assertFalse(counts("first-aaaaaaa" + turn, ack(first)));
    }
  }

  @Test
  void aReplayThatFreesTheClaimOfAnotherIsRemembered() {
    topic.replay(topic.commit(10, 10, topic.publish(A, "one", past)));
    TakenMessage before = topic.takeOne();
    MessageChange.Ack after =
        new MessageChange.Ack(A, A.slot(4), 10, "of a claim that a failover forgot", 0);
    assertTrue(counts("after-bbbbbbbb", after));
    assertFalse(counts("before-aaaaaaa", ack(before)));
  }

  @Test
  void aDeadLetterIsEndedByAReplayAndOnceRetriedByWhoHandlesIt() {
    for (boolean isRetriedFirst : List.of(false, true)) {
      as("publisher-" + isRetriedFirst);
      topic.replay(topic.commit(10, 10 + (isRetriedFirst ? 1 : 0), topic.publish(A, "one", past)));
      TakenMessage late = topic.takeLate();
      assertEquals(
          NackMessageScript.Result.DEAD, topic.nack(topic.takeOne(), 0, 2, 0), "of two attempts");
      if (isRetriedFirst) {
        assertEquals(
            DeadMessages.Retried.RETRIED,
            DeadMessages.retry(
                topic.redis, topic.slot(A), A, MessageValue.version(late.value()), null));
        topic.send(ack(topic.takeOne()));
      }
      assertEquals(!isRetriedFirst, counts("late-aaaaaaa" + isRetriedFirst, ack(late)));
      assertTrue(topic.find(A).isNowhere(), "no dead letter is left");
    }
  }

  @Test
  void acknowledgementsAloneAreReplayedEachForItself() {
    MessageId b = inSlotOfA();
    topic.replay(
        topic.commit(10, 10, topic.publish(A, "one", past), topic.publish(b, "one", past)));
    List<TakenMessage> taken = topic.take();
    taken.forEach(topic::lapse);
    TakenMessage again =
        topic.take().stream().filter(of -> of.id().equals(A)).findFirst().orElseThrow();
    topic.send(ack(again));
    as("late-aaaaaaaa");
    assertEquals(
        List.of(), topic.replay(topic.commit(10, 50, ack(taken.get(0)), ack(taken.get(1)))));
    assertTrue(topic.find(b).isNowhere());
  }

  @Test
  void anotherOccurrenceOfARecurringMessageIsNotTheSame() {
    topic.replay(topic.commit(10, 10, topic.recurring(A, "tick", past)));
    TakenMessage first = topic.takeOne();
    topic.send(ack(first, past + 1_000));
    TakenMessage second = topic.takeLate();
    TakenMessage again = topic.takeOne(); // later, so that more of them were missed
    topic.send(ack(again, past + 5_000));
    assertTrue(counts("first-aaaaaaaa", ack(first, past + 1_000)));
    assertFalse(counts("second-bbbbbbb", ack(second, past + 2_000)));
    assertEquals(past + 5_000, topic.due(A), "the series goes on");
  }

  private static MessageId inSlotOfA() {
    int i = 0;
    while (id("b" + i).slot(4) != A.slot(4)) {
      i++;
    }
    return id("b" + i);
  }

  @Test
  void whoEndedMessagesIsForgottenOnlyAfterFiveThousandOthers() {
    for (int i = 0; i < 4_999; i++) {
      topic.redis.sync().hset(topic.key(A, "ended"), SlotKeys.bytes("x" + i), new byte[] {'x'});
    }
    List<TakenMessage> late = new ArrayList<>();
    for (MessageId id : List.of(A, inSlotOfA())) {
      topic.send(topic.publish(id, "one", past));
      late.add(topic.takeLate());
      topic.send(ack(topic.takeOne()));
    }
    assertEquals(5_000, topic.redis.sync().hlen(topic.key(A, "ended:before")));
    assertEquals(1, topic.redis.sync().hlen(topic.key(A, "ended")));
    assertFalse(counts("other-aaaaaaaa", ack(late.get(0))));
    assertFalse(counts("other-bbbbbbbb", ack(late.get(1))));
  }

  /** Days until what a hash holds is forgotten, if nothing more is written. */
  private double daysLeft(String name) {
    return topic.redis.sync().pttl(topic.key(A, name)) / 86_400_000.0;
  }

  private void endByReplay(MessageId id) {
    as("consumer-" + id.key());
    topic.replay(
        topic.commit(10, 50, new MessageChange.Ack(id, id.slot(4), 10, "of a lost claim", 0)));
  }

  @Test
  void whatIsOverIsRememberedForLongerThanALeftWalMayBeReplayed() {
    double replayed = LeftMessages.OLDEST.toDays();
    assertTrue(MessageMarks.KEPT.toDays() > replayed);
    endByReplay(A);
    assertTrue(daysLeft("done") > replayed, "days left: " + daysLeft("done"));
    topic
        .redis
        .sync()
        .pexpire(topic.key(A, "done"), 86_400_000L); // the next one is of another week
    endByReplay(inSlotOfA());
    assertTrue(daysLeft("done") > replayed, "days left: " + daysLeft("done"));
    assertTrue(daysLeft("done:before") > replayed, "days left: " + daysLeft("done:before"));
    as("publisher-cccccccc");
    for (MessageId id : List.of(A, inSlotOfA())) {
      topic.replay(topic.commit(10, 10, topic.publish(id, "one", past)));
      assertEquals("none", topic.pending(id));
    }
    topic.replay(topic.commit(11, 60, topic.publish(A, "newer", past)));
    assertEquals("newer", topic.pending(A));
  }

  @Test
  void anOlderReplayDoesNotHideWhatIsKnownOfLastWeek() {
    endByReplay(A);
    topic.redis.sync().pexpire(topic.key(A, "done"), 86_400_000L);
    endByReplay(inSlotOfA());
    as("late-aaaaaaaa");
    topic.replay(topic.commit(10, 50, new MessageChange.Ack(A, A.slot(4), 7, "an older one", 0)));
    topic.redis.sync().del(topic.key(A, "done:before"));
    as("publisher-cccccccc");
    topic.replay(topic.commit(10, 10, topic.publish(A, "one", past)));
    assertEquals("none", topic.pending(A));
  }

  @Test
  void whatIsOverIsForgottenInTheEndThoughMoreComesEveryDay() {
    byte[] done = topic.key(A, "done");
    for (MessageId id : List.of(A, inSlotOfA())) {
      topic.redis.sync().hset(done, SlotKeys.bytes("x" + id.key()), SlotKeys.bytes("0".repeat(16)));
      topic.redis.sync().pexpire(done, 6 * 86_400_000L); // begun eight days ago
      endByReplay(id);
    }
    assertEquals(
        Set.of(A.id(), "x" + inSlotOfA().key()),
        topic.redis.sync().hkeys(topic.key(A, "done:before")).stream()
            .map(of -> new String(of, UTF_8))
            .collect(Collectors.toSet()));
    assertEquals(1, topic.redis.sync().hlen(done));
  }

  @Test
  void ofWhatIsOverOnlySoMuchIsRemembered() {
    for (int i = 0; i < 50_000; i += 500) {
      Map<byte[], byte[]> some = new HashMap<>();
      for (int j = i; j < i + 500; j++) {
        some.put(SlotKeys.bytes("x" + j), SlotKeys.bytes("0000000000000001"));
      }
      topic.redis.sync().hset(topic.key(A, "done"), some);
    }
    endByReplay(A);
    assertEquals(1, topic.redis.sync().hlen(topic.key(A, "done")));
    assertEquals(50_000, topic.redis.sync().hlen(topic.key(A, "done:before")));
  }

  @Test
  void aRecurringSeriesGoesOnInWhateverOrderItsReplaysCome() {
    MessageCommit publish = topic.commit(10, 10, topic.recurring(A, "tick", past));
    MessageCommit first =
        topic.commit(10, 20, new MessageChange.Ack(A, A.slot(4), 10, "t1", past + 1_000));
    MessageCommit second =
        topic.commit(10, 30, new MessageChange.Ack(A, A.slot(4), 10, "t2", past + 2_000));
    MessageCommit[][] orders = {
      {publish, first, second}, {publish, second, first}, {first, publish, second},
      {first, second, publish}, {second, publish, first}, {second, first, publish}
    };
    int number = 0;
    for (MessageCommit[] order : orders) {
      for (MessageCommit commit : order) {
        as("wal-%08d".formatted(++number));
        topic.replay(commit);
      }
      TakenMessage taken = topic.takeOne();
      assertEquals(past + 2_000, taken.dueMillis(), "order " + number);
      assertEquals(past + 2_000, MessageValue.decode(taken.value()).sinceMillis());
      topic.send(ack(taken));
      topic.redis.sync().del(topic.key(A, "done"));
      assertEquals(List.of("fence"), topic.keys());
    }
  }

  /**
   * Three commits of one slot, each of which is applied or refused for what it is worth, with its
   * reply lost or not; then all of which the reply was lost are sent again, in order: each is
   * applied exactly once, and what was refused and told so is not.
   */
  @Test
  void isAppliedExactlyOnceForEveryInterleavingOfRefusalsAndLostReplies() {
    int cases = 0;
    for (int refused = 0; refused < 8; refused++) {
      for (int answered = 0; answered <= 3; answered++) {
        for (int againTwice = 0; againTwice < 2; againTwice++) {
          tryOut(++cases, refused, answered, againTwice == 1);
        }
      }
    }
    assertEquals(64, cases);
  }

  /** Messages are taken between all steps, so that versions alone do not hide a second time. */
  private void tryOut(int number, int refused, int answered, boolean isAgainTwice) {
    as("case-%08d".formatted(number));
    List<MessageCommit> commits = new ArrayList<>();
    List<String> handled = new ArrayList<>();
    long before = 1;
    for (int i = 0; i < 3; i++) {
      MessageCommit commit =
          topic.commit(10 + 5 * i, number * 100L + i, topic.publish(A, "m" + i, past));
      commits.add(commit);
      commit.messages().get(0).setBefore(before);
      before = commit.sequence();
      if ((refused >> i & 1) == 0) {
        topic.withBefore(commit);
      }
      handle(handled);
    }
    for (int turn = 0; turn < (isAgainTwice ? 2 : 1); turn++) {
      for (int i = answered; i < 3; i++) {
        topic.again(commits.get(i));
        handle(handled);
      }
    }
    List<String> expected = new ArrayList<>();
    for (int i = 0; i < 3; i++) {
      if (i >= answered || (refused >> i & 1) == 0) {
        expected.add("m" + i);
      }
    }
    handled.sort(null);
    String name = "refused %d, answered %d, twice %s".formatted(refused, answered, isAgainTwice);
    assertEquals(expected, handled, name);
    for (MessageCommit commit : commits.subList(answered, 3)) {
      assertTrue(!marks().lacks(commit.sequence()), name);
    }
  }

  private void handle(List<String> handled) {
    for (TakenMessage taken : topic.take(topic.slot(A), 9, 0).taken()) {
      handled.add(payload(taken.value()));
      String own = topic.walId;
      as("consumer-ffffffff");
      assertEquals(List.of(), topic.send(ack(taken)));
      as(own);
    }
  }

  @Test
  void marksTellWhatRedisLacksAndAreForgotten() {
    topic.send(topic.publish(A, "one", past));
    assertEquals(101, marks().mark());
    assertEquals(List.of(new MessageMarks.Hole(0, 1)), marks().holes());
    assertEquals(0, marks().lacksAfter());
    assertTrue(marks().lacks(102) && marks().lacks(1) && !marks().lacks(50));
    MessagesScript.send(
            topic.redis,
            new MessagesScript.Arguments(
                SlotKeys.bytes(topic.walId),
                50,
                false,
                topic.slots,
                List.of(topic.commit(topic.publish(A, "two", past)))))
        .toCompletableFuture()
        .join();
    assertEquals(new MessageMarks.Marks(102, List.of()), marks(), "a hole below what is kept");
    assertEquals(1, MessageMarks.forget(topic.redis, topic.slots, topic.walId));
    assertEquals(new MessageMarks.Marks(0, List.of()), marks());
  }
}
