package io.gameq.redis.topic;

import static io.gameq.redis.topic.ScriptedTopic.ack;
import static io.gameq.redis.topic.ScriptedTopic.id;
import static io.gameq.redis.topic.ScriptedTopic.payload;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.gameq.healing.MessageReplay;
import io.gameq.message.MessageChange;
import io.gameq.message.MessageChange.MessageId;
import io.gameq.message.MessageChange.MessageValue;
import io.gameq.mysql.tables.TombstoneHorizon;
import io.gameq.redis.SlotKeys;
import io.gameq.redis.script.CommitScript.ScriptCommit;
import io.gameq.redis.script.JournalMarks;
import io.gameq.redis.script.JournalMarks.SlotMarks;
import io.gameq.redis.script.MessagesScript;
import io.gameq.redis.topic.ConsumerScripts.TakenMessage;
import io.lettuce.core.ScriptOutputType;
import java.util.ArrayList;
import java.util.List;
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

  private JournalMarks marks() {
    return JournalMarks.read(topic.redis, topic.slots, topic.walId);
  }

  /** As another node, which has a WAL of its own. */
  private void as(String walId) {
    topic.walId = walId;
  }

  @Test
  void aReplayedPublishIsDroppedWhereTheSameOrANewerOneIsPendingOrHeldOrOver() {
    ScriptCommit one = topic.commit(10, 10, topic.publish(A, "one", past));
    ScriptCommit two = topic.commit(11, 20, topic.publish(A, "two", past));
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
    ScriptCommit acked = topic.commit(9, 30, ack(taken));
    topic.replay(acked);
    topic.replay(one, two);
    assertTrue(topic.isNowhere(A), "it was handled, a replay said");
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
    assertTrue(topic.isNowhere(A));
    assertEquals(1, topic.send(ack(after)).size(), "its claim is gone");
    as("third-cccccccc");
    topic.replay(topic.commit(10, 60, topic.publish(A, "two", past)));
    as("fourth-dddddddd");
    topic.replay(topic.commit(10, 55, topic.delete(A)));
    assertEquals("two", topic.pending(A), "published after it was deleted");
    topic.replay(topic.commit(11, 70, topic.delete(A)));
    assertTrue(topic.isNowhere(A));
    as("fifth-eeeeeeee");
    topic.replay(topic.commit(10, 60, topic.publish(A, "two", past)));
    assertTrue(topic.isNowhere(A));
  }

  /** With what stands or falls with it: MySQL decides whether the rows of its commit count. */
  private void replayed(String walId, MessageChange.Ack ack) {
    as(walId);
    MessageId follows = id("follows " + walId);
    assertEquals(
        List.of(),
        topic.replay(topic.commit(10, 50, ack, topic.publish(follows, "next", past + 200_000))));
    assertEquals("next", topic.pending(follows));
  }

  @Test
  void aReplayedAckIsAppliedWhoeverEndedTheMessageBefore() {
    topic.replay(topic.commit(10, 10, topic.publish(A, "one", past)));
    TakenMessage first = topic.takeLate();
    assertEquals(List.of(), topic.send(ack(topic.takeOne())));
    replayed("first-aaaaaaa1", ack(first));
    as("fourth-dddddddd");
    topic.replay(topic.commit(10, 60, topic.publish(A, "two", past)));
    replayed("first-aaaaaaa2", ack(first));
    assertEquals("two", topic.pending(A), "it says nothing of a newer one");
  }

  @Test
  void aDeadLetterIsEndedByAReplay() {
    topic.replay(topic.commit(10, 10, topic.publish(A, "one", past)));
    TakenMessage late = topic.takeLate();
    assertEquals(
        ConsumerScripts.NackResult.DEAD, topic.nack(topic.takeOne(), 0, 2, 0), "of two attempts");
    replayed("late-aaaaaaaa", ack(late));
    assertTrue(topic.isNowhere(A), "no dead letter is left");
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
    assertTrue(topic.isNowhere(b));
  }

  @Test
  void aReplayOfAnEarlierOccurrenceLeavesTheSeriesAsItIs() {
    topic.replay(topic.commit(10, 10, topic.recurring(A, "tick", past)));
    TakenMessage first = topic.takeOne();
    topic.send(ack(first, past + 1_000));
    TakenMessage second = topic.takeLate();
    TakenMessage again = topic.takeOne(); // later, so that more of them were missed
    topic.send(ack(again, past + 5_000));
    replayed("first-aaaaaaaa", ack(first, past + 1_000));
    replayed("second-bbbbbbb", ack(second, past + 2_000));
    assertEquals(past + 5_000, topic.due(A), "the series goes on");
  }

  private static MessageId inSlotOfA() {
    int i = 0;
    while (id("b" + i).slot(4) != A.slot(4)) {
      i++;
    }
    return id("b" + i);
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
    double replayed = MessageReplay.OLDEST.toDays();
    assertTrue(JournalMarks.KEPT.toDays() > replayed);
    assertTrue(TombstoneHorizon.HANDLED_KEPT.compareTo(JournalMarks.KEPT) >= 0);
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
    String fill =
        "for i = 1, 50000 do redis.call('HSET', KEYS[1], 'x' .. i, '0000000000000001') end";
    topic
        .redis
        .sync()
        .eval(
            fill.getBytes(UTF_8),
            ScriptOutputType.MULTI,
            new byte[][] {topic.key(A, "done")},
            new byte[0][]);
    endByReplay(A);
    assertEquals(1, topic.redis.sync().hlen(topic.key(A, "done")));
    assertEquals(50_000, topic.redis.sync().hlen(topic.key(A, "done:before")));
  }

  @Test
  void aRecurringSeriesGoesOnInWhateverOrderItsReplaysCome() {
    ScriptCommit publish = topic.commit(10, 10, topic.recurring(A, "tick", past));
    ScriptCommit first =
        topic.commit(10, 20, new MessageChange.Ack(A, A.slot(4), 10, "t1", past + 1_000));
    ScriptCommit second =
        topic.commit(10, 30, new MessageChange.Ack(A, A.slot(4), 10, "t2", past + 2_000));
    ScriptCommit[][] orders = {
      {publish, first, second}, {publish, second, first}, {first, publish, second},
      {first, second, publish}, {second, publish, first}, {second, first, publish}
    };
    int number = 0;
    for (ScriptCommit[] order : orders) {
      for (ScriptCommit commit : order) {
        as("wal-%08d".formatted(++number));
        topic.replay(commit);
      }
      TakenMessage taken = topic.takeOne();
      assertEquals(past + 2_000, taken.dueMillis(), "order " + number);
      assertEquals(past + 2_000, MessageValue.decode(taken.value()).sinceMillis());
      topic.send(ack(taken));
      topic.redis.sync().del(topic.key(A, "done"), topic.key(A, "back"));
      assertEquals(List.of("fence"), topic.keys());
    }
  }

  /**
   * Three commits of one slot, of which so many arrived, and so many were answered; then those
   * without an answer are sent again as far as the journal marks do not prove that they are there,
   * in order, and all of it once more: each is applied exactly once.
   */
  @Test
  void isAppliedExactlyOnceHoweverManyArrivedAndHoweverManyRepliesWereLost() {
    int cases = 0;
    for (int arrived = 0; arrived <= 3; arrived++) {
      for (int answered = 0; answered <= arrived; answered++) {
        for (int arrivedAgain = 0; arrivedAgain <= 3 - answered; arrivedAgain++) {
          tryOut(++cases, arrived, answered, arrivedAgain);
        }
      }
    }
    assertEquals(30, cases);
  }

  /** Messages are taken between all steps, so that versions alone do not hide a second time. */
  private void tryOut(int number, int arrived, int answered, int arrivedAgain) {
    as("case-%08d".formatted(number));
    List<ScriptCommit> commits = new ArrayList<>();
    List<String> handled = new ArrayList<>();
    for (int i = 0; i < 3; i++) {
      commits.add(topic.commit(10 + 5 * i, number * 100L + i, topic.publish(A, "m" + i, past)));
      if (i < arrived) {
        topic.first(commits.get(i));
      }
      handle(handled);
    }
    sendAgain(commits.subList(answered, answered + arrivedAgain), handled);
    sendAgain(commits.subList(answered, 3), handled);
    handled.sort(null);
    String name = "%d arrived, %d answered, %d again".formatted(arrived, answered, arrivedAgain);
    assertEquals(List.of("m0", "m1", "m2"), handled, name);
    assertEquals(20, marks().sequence(A.slot(4)), name);
  }

  private void sendAgain(List<ScriptCommit> unanswered, List<String> handled) {
    JournalMarks found = marks();
    topic.marks().read(found);
    for (ScriptCommit commit : unanswered) {
      if (found.lacks(A.slot(4), commit.sequence())) {
        topic.again(commit);
      }
      handle(handled);
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
  void marksTellWhatRedisHoldsAndAreForgotten() {
    topic.send(topic.publish(A, "one", past));
    assertEquals(101, marks().sequence(A.slot(4)));
    assertTrue(marks().lacks(A.slot(4), 102) && !marks().lacks(A.slot(4), 101));
    assertEquals(1, JournalMarks.forget(topic.redis, topic.slots, topic.walId));
    assertTrue(marks().lacks(A.slot(4), 1));
  }

  @Test
  void aCallThatComesAfterAHealingIsRefused() {
    ScriptCommit late = topic.commit(topic.publish(A, "one", past));
    SlotMarks.Move move = topic.marks().next(A.slot(4), late.sequence());
    topic.marks().read(marks());
    topic.again(late);
    handle(new ArrayList<>());
    assertFalse(topic.send(topic.call(MessagesScript.Mode.FIRST), List.of(move), late).fits());
    assertTrue(topic.isNowhere(A), "it was handled, and does not come back");
  }
}
