package io.gameq.redis.topic;

import static io.gameq.redis.topic.ScriptedTopic.ack;
import static io.gameq.redis.topic.ScriptedTopic.id;
import static io.gameq.redis.topic.ScriptedTopic.payloads;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.gameq.message.MessageChange;
import io.gameq.message.MessageChange.MessageId;
import io.gameq.message.MessageChange.MessageValue;
import io.gameq.redis.SlotKeys;
import io.gameq.redis.script.CommitScript.ScriptCommit;
import io.gameq.redis.script.JournalMarks;
import io.gameq.redis.script.MessagesScript;
import io.gameq.redis.script.MessagesScript.Kind;
import io.gameq.redis.topic.ConsumerScripts.TakenMessage;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** What commits do to messages that nobody has taken; each test has keys of its own. */
class MessageCommitsTest {
  private static ScriptedTopic topic;

  @BeforeAll
  static void open() {
    topic = new ScriptedTopic();
  }

  @AfterAll
  static void close() {
    topic.close();
  }

  private static List<MessagesScript.Refused> none() {
    return List.of();
  }

  @Test
  void mergesWithinTheWindowAndKeepsTheEarlierTimeAndTheFirstSince() {
    MessageId id = id("merge");
    long due = topic.now() + 100_000;
    assertEquals(none(), topic.send(topic.publish(id, "one", due)));
    long since = MessageValue.decode(topic.value(id)).sinceMillis();
    assertEquals(none(), topic.send(topic.publish(id, "two", due + 5_000)));
    assertEquals("two", topic.pending(id));
    assertEquals(due, topic.due(id));
    assertEquals(since, MessageValue.decode(topic.value(id)).sinceMillis());
    topic.send(topic.publish(id, "three", due - 5_000));
    assertEquals(due - 5_000, topic.due(id), "an earlier one pulls it forward");
  }

  @Test
  void mergesInOneCallAsIfOneCameAfterTheOther() {
    MessageId id = id("merge in one call");
    MessageId other = id("other");
    long due = topic.now() + 100_000;
    topic.send(
        topic.publish(id, "one", due),
        topic.publish(other, "only", due + 1),
        topic.publish(id, "two", due + 5_000),
        topic.publish(id, "three", due + 1_000));
    assertEquals("three", topic.pending(id));
    assertEquals(due, topic.due(id));
    assertEquals("only", topic.pending(other));
    topic.send(
        topic.publish(id, "four", due), topic.delete(id), topic.publish(id, "five", due + 7));
    assertEquals("five", topic.pending(id));
    assertEquals(due + 7, topic.due(id), "it was deleted in between");
  }

  @Test
  void replacesTheTimeAndIsNotPutOffBeyondTheCap() {
    MessageId id = id("replace");
    long now = topic.now();
    topic.send(topic.publish(id, "one", now + 1_000, false, 10_000, 0));
    topic.send(topic.publish(id, "two", now + 8_000, false, 10_000, 0));
    assertEquals(now + 8_000, topic.due(id));
    topic.send(topic.publish(id, "three", now + 90_000, false, 10_000, 0));
    long since = MessageValue.decode(topic.value(id)).sinceMillis();
    assertEquals(since + 10_000, topic.due(id), "ten seconds after the first publish");
    assertEquals("three", topic.pending(id));
  }

  @Test
  void retimesAndDeletesWhatIsPendingAndNothingElse() {
    MessageId id = id("retime");
    MessageId grouped = id("player:1", "retime");
    long due = topic.now() + 100_000;
    topic.send(
        topic.publish(id, "one", due),
        topic.publish(grouped, "of group", due),
        topic.retime(id, due + 5),
        topic.retime(grouped, due + 6),
        topic.retime(id("nothing"), due));
    assertEquals(due + 5, topic.due(id));
    assertEquals(due + 6, topic.due(grouped));
    assertEquals((double) due + 6, topic.score(grouped, "due"), "of the group as well");
    assertTrue(topic.isNowhere(id("nothing")));
    topic.send(topic.delete(id), topic.delete(grouped), topic.delete(id("nothing")));
    assertTrue(topic.isNowhere(id) && topic.isNowhere(grouped));
    assertEquals(-1, topic.score(id, "due"));
    assertEquals(-1, topic.score(grouped, "due"));
  }

  @Test
  void anOlderVersionThatComesLaterIsRaisedAboveThePendingOne() {
    MessageId id = id("clocks apart");
    long due = topic.now() + 100_000;
    topic.first(topic.commitOf(0x1_ffffL, topic.publish(id, "first", due)));
    topic.first(topic.commitOf(0x1_0000L, topic.publish(id, "second", due)));
    assertEquals("second", topic.pending(id));
    assertEquals(0x2_0000L, MessageValue.version(topic.value(id)));
  }

  @Test
  void appliesACommitOfSeveralChangesAsAWholeOrNotAtAll() {
    MessageId first = id("whole 1");
    MessageId second = id("group", "whole 2");
    long past = topic.now() - 1_000;
    topic.send(topic.publish(first, "one", past));
    TakenMessage taken = topic.take(topic.slot(first), 1, 0).taken().get(0);
    topic.send(topic.publish(second, "two", past + 100_000));
    long version = MessageValue.version(topic.value(second));
    MessageChange.Ack wrong = new MessageChange.Ack(first, taken.slot(), 1, "0-0-0", 0);
    MessageChange.Publish more = topic.publish(second, "three", past);
    assertEquals(
        List.of(new MessagesScript.Refused(0, Kind.CLAIM_LOST, "mail/" + first.id())),
        topic.first(topic.commit(more, wrong)));
    assertEquals(
        List.of(new MessagesScript.Refused(0, Kind.CHANGED, "mail/" + second.id())),
        topic.first(topic.commit(topic.expect(second, version + 1), more, ack(taken))));
    assertEquals("two", topic.pending(second));
    assertEquals(
        none(),
        topic.first(
            topic.commit(
                topic.expect(second, version), topic.expect(id("none"), 0), more, ack(taken))));
    assertEquals("three", topic.pending(second));
    assertTrue(topic.isNowhere(first));
    assertEquals(List.of("three"), payloads(topic.take(topic.slot(second), 9, 0).taken()));
  }

  @Test
  void refusesOneOfManyAndRemembersItForWhoGotNoAnswer() {
    try (ScriptedTopic own = new ScriptedTopic()) {
      MessageId first = id("a");
      MessageId second = other(own, first, 0);
      MessageId third = other(own, first, 1);
      own.send(own.publish(first, "one", 1), own.publish(second, "two", 2));
      List<TakenMessage> taken = own.take();
      own.lapse(taken.get(1));
      TakenMessage again = own.take().get(0);
      assertEquals(second, again.id());
      int slot = taken.get(0).slot();
      ScriptCommit[] commits = {
        own.commit(ack(taken.get(0))),
        own.commit(ack(taken.get(1))), // its lease ran out
        own.commit(own.publish(third, "three", 5))
      };
      assertEquals(
          List.of(new MessagesScript.Refused(1, Kind.CLAIM_LOST, "mail/" + second.id())),
          own.first(commits));
      JournalMarks marks = JournalMarks.read(own.redis, own.slots, own.walId);
      assertEquals(105, marks.sequence(slot));
      assertTrue(marks.wasRefused(104, false));
      assertFalse(marks.wasRefused(103, false) || marks.wasRefused(105, true));
      assertEquals("three", own.pending(third));
      assertEquals(
          List.of(new MessagesScript.Refused(0, Kind.CLAIM_LOST, "mail/" + second.id())),
          own.again(commits[1]),
          "refused again");
      assertEquals(none(), own.send(ack(again)));
    }
  }

  /** Another key of the same slot. */
  private static MessageId other(ScriptedTopic own, MessageId than, int number) {
    for (int i = 0, found = 0; ; i++) {
      MessageId id = id("other " + i);
      if (own.slot(id).equals(own.slot(than)) && found++ == number) {
        return id;
      }
    }
  }

  @Test
  void refusesWhatSomebodyElseWroteOver() {
    try (ScriptedTopic own = new ScriptedTopic()) {
      MessageId id = id("a");
      own.redis.sync().set(own.key(id, "due"), SlotKeys.bytes("mine"));
      MessageId elsewhere = id("b");
      for (int i = 0; own.slot(elsewhere).equals(own.slot(id)); i++) {
        elsewhere = id("b" + i);
      }
      List<MessagesScript.Refused> refused =
          own.send(own.publish(id, "one", 1), own.publish(elsewhere, "two", 1));
      assertEquals(1, refused.size());
      assertEquals(0, refused.get(0).commit());
      assertEquals(Kind.WRONG_TYPE, refused.get(0).kind());
      assertTrue(refused.get(0).text().contains(":due is a string"), refused.get(0).text());
      assertEquals("two", own.pending(elsewhere));
      own.redis.sync().del(own.key(id, "due"));
      assertEquals("none", own.pending(id));
      own.redis.sync().set(own.key(id, "lane:g"), SlotKeys.bytes("mine"));
      MessageId grouped = id("g", "k");
      own.redis.sync().set(own.key(grouped, "lane:g"), SlotKeys.bytes("mine"));
      assertEquals(Kind.WRONG_TYPE, own.send(own.publish(grouped, "x", 1)).get(0).kind());
    }
  }

  @Test
  void takesKeysOfAnyCharacters() {
    StringBuilder odd = new StringBuilder("x");
    for (char c = 1; c < 0x180; c++) {
      odd.append(c);
    }
    String text = odd.toString();
    long past = topic.now() - 1_000;
    for (int at = 0; at < text.length(); at += 24) {
      String key = text.substring(at, Math.min(text.length(), at + 24));
      MessageId grouped = MessageId.of(ScriptedTopic.TOPIC, key, key);
      assertEquals(none(), topic.send(topic.publish(id(key), "p", past)), key);
      assertEquals(none(), topic.send(topic.publish(grouped, "g", past)), key);
      assertEquals("p", topic.pending(id(key)));
      List<TakenMessage> taken = new java.util.ArrayList<>();
      taken.addAll(topic.take(topic.slot(id(key)), 100, 0).taken());
      taken.addAll(topic.take(topic.slot(grouped), 100, 0).taken());
      assertTrue(taken.stream().anyMatch(of -> key.equals(of.id().key())), key);
      assertTrue(taken.stream().anyMatch(of -> key.equals(of.id().group())), key);
      for (TakenMessage of : taken) {
        assertEquals(none(), topic.send(ack(of)));
      }
      assertTrue(topic.isNowhere(id(key)) && topic.isNowhere(grouped));
    }
  }
}
