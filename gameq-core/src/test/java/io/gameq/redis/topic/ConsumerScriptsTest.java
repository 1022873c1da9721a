package io.gameq.redis.topic;

import static io.gameq.redis.topic.ScriptedTopic.ack;
import static io.gameq.redis.topic.ScriptedTopic.id;
import static io.gameq.redis.topic.ScriptedTopic.payload;
import static io.gameq.redis.topic.ScriptedTopic.payloads;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.gameq.message.MessageChange;
import io.gameq.message.MessageChange.MessageId;
import io.gameq.message.MessageChange.MessageValue;
import io.gameq.redis.ChannelListener;
import io.gameq.redis.SlotKeys;
import io.gameq.redis.script.MessagesScript;
import io.gameq.redis.script.MessagesScript.Kind;
import io.gameq.redis.topic.ConsumerScripts.NackResult;
import io.gameq.redis.topic.ConsumerScripts.TakenMessage;
import io.gameq.redis.topic.TopicMessages.FoundMessage;
import io.gameq.redis.topic.TopicMessages.TopicCounts;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What consumers do to messages. */
class ConsumerScriptsTest {
  private static final MessageId A = id("a");

  private ScriptedTopic topic;
  private long past;

  @BeforeEach
  void open() {
    topic = new ScriptedTopic();
    past = topic.now() - 100_000;
  }

  @AfterEach
  void close() {
    topic.close();
  }

  private List<MessagesScript.Refused> send(MessageChange... changes) {
    return topic.send(changes);
  }

  @Test
  void takesWhatIsDueOldestFirstAndTellsWhenTheNextIs() {
    List<MessageId> ids = new ArrayList<>();
    for (int i = 0; ids.size() < 4; i++) {
      if (topic.slot(id("k" + i)).equals(topic.slot(A))) {
        ids.add(id("k" + i));
      }
    }
    send(
        topic.publish(ids.get(0), "late", past + 3),
        topic.publish(ids.get(1), "first", past),
        topic.publish(ids.get(2), "second", past + 1),
        topic.publish(ids.get(3), "future", topic.now() + 60_000));
    ConsumerScripts.Batch some = topic.take(topic.slot(A), 2, 0);
    assertEquals(List.of("first", "second"), payloads(some.taken()));
    assertEquals(0, some.waitMillis(), "there is more");
    assertEquals(past, some.taken().get(0).dueMillis());
    assertEquals(1, some.taken().get(0).attempts());
    ConsumerScripts.Batch rest = topic.take(topic.slot(A), 9, 0);
    assertEquals(List.of("late"), payloads(rest.taken()));
    assertTrue(rest.waitMillis() > 50_000 && rest.waitMillis() <= 60_000);
    assertTrue(rest.taken().get(0).fence() > some.taken().get(0).fence());
    TopicCounts counts =
        TopicMessages.counts(topic.redis, List.of(topic.slots), ScriptedTopic.TOPIC, topic.now());
    assertEquals(new TopicCounts(1, 0, 3, 0, 0, counts.firstDueMillis()), counts);
    assertEquals(3, page(TopicMessages.Place.HELD, A).size());
    assertEquals(1, page(TopicMessages.Place.HELD, A).get(0).attempts());
    assertEquals(List.of(ids.get(3)), ids(page(TopicMessages.Place.DUE, A)));
    assertEquals(
        -1, topic.take(topic.slots[(rest.taken().get(0).slot() + 1) % 4], 9, 0).waitMillis());
  }

  private List<TopicMessages.ListedMessage> page(TopicMessages.Place place, MessageId id) {
    return TopicMessages.page(topic.redis, topic.slot(id), ScriptedTopic.TOPIC, place, 0, 100);
  }

  private static List<MessageId> ids(List<TopicMessages.ListedMessage> page) {
    return page.stream().map(TopicMessages.ListedMessage::id).toList();
  }

  @Test
  void whatIsPublishedWhileItsKeyIsHeldIsHandledAfterwards() {
    send(topic.publish(A, "one", past));
    TakenMessage one = topic.takeOne();
    send(topic.publish(A, "two", past + 5));
    assertEquals(List.of(), topic.take(), "the lane is held");
    assertEquals(List.of(), topic.take());
    FoundMessage found = topic.find(A);
    assertEquals("two", payload(Objects.requireNonNull(found.pending()).value()));
    assertEquals("one", payload(Objects.requireNonNull(found.held()).value()));
    assertEquals("node 1", found.held().node());
    send(topic.publish(A, "three", topic.now() + 60_000));
    assertEquals(past + 5, topic.due(A), "a merge does not put off what fell due");
    assertEquals(List.of(), send(ack(one)));
    TakenMessage three = topic.takeOne();
    assertEquals("three", payload(three.value()));
    assertEquals(past + 5, three.dueMillis());
    send(ack(three));
    assertEquals(List.of("fence"), topic.keys());
  }

  @Test
  void whatWaitsBehindAHeldOneCanBePutOffAndDeleted() {
    send(topic.publish(A, "one", past));
    TakenMessage one = topic.takeOne();
    send(topic.publish(A, "two", past));
    topic.take();
    long later = topic.now() + 60_000;
    send(topic.retime(A, later), ack(one));
    assertEquals(List.of(), topic.take());
    assertEquals(later, topic.due(A));
    send(topic.retime(A, past));
    TakenMessage two = topic.takeOne();
    send(topic.publish(A, "three", past));
    topic.take();
    send(topic.publish(A, "four", later, false, 0, 0), ack(two));
    assertEquals(later, topic.due(A), "replaced");
    send(topic.delete(A));
    assertTrue(topic.isNowhere(A));
    assertEquals(List.of("fence"), topic.keys());
  }

  @Test
  void messagesOfAGroupComeOneAfterAnotherByDueTime() {
    MessageId late = id("player:1", "late");
    MessageId early = id("player:1", "early");
    MessageId future = id("player:1", "future");
    send(
        topic.publish(late, "late", past + 5),
        topic.publish(early, "early", past),
        topic.publish(future, "future", topic.now() + 60_000));
    assertEquals(2, page(TopicMessages.Place.DUE, late).get(0).behind());
    assertEquals(
        List.of(early, late, future),
        ids(TopicMessages.page(topic.redis, topic.slot(late), late, 0, 9)));
    TakenMessage first = topic.takeOne();
    assertEquals("early", payload(first.value()));
    send(topic.publish(early, "early again", past + 9));
    assertEquals(List.of(), topic.take());
    send(ack(first));
    TakenMessage second = topic.takeOne();
    assertEquals("late", payload(second.value()));
    assertEquals(NackResult.BACK, topic.nack(second, 50_000, 16, 0));
    TakenMessage third = topic.takeOne();
    assertEquals("early again", payload(third.value()), "others go on while one waits");
    send(ack(third));
    assertEquals(List.of(), topic.take());
    assertEquals(topic.due(late), (long) topic.score(late, "due"));
    send(topic.delete(late), topic.delete(future));
    assertEquals(List.of("fence"), topic.keys());
  }

  @Test
  void higherPriorityComesFirstAndAgeCounts() {
    MessageId low = id("g", "low");
    List<MessageId> ids = new ArrayList<>();
    for (int i = 0; ids.size() < 4; i++) {
      if (topic.slot(id("k" + i)).equals(topic.slot(low))) {
        ids.add(id("k" + i));
      }
    }
    send(
        topic.publish(ids.get(0), "old low", past - 50_000, true, 0, 0),
        topic.publish(low, "grouped, 1", past, true, 0, 1),
        topic.publish(ids.get(1), "fresh 3", past + 100, true, 0, 3),
        topic.publish(ids.get(2), "fresh 3, later", past + 200, true, 0, 3),
        topic.publish(ids.get(3), "becomes 9", past + 300, true, 0, -9));
    long age = 10_000;
    assertEquals(
        List.of("old low"), payloads(topic.take(topic.slot(low), 1, age).taken()), "5 steps old");
    assertEquals(4, page(TopicMessages.Place.READY, low).size());
    assertEquals(past + 300, topic.due(ids.get(3)), "known while it is sorted by priority");
    send(topic.publish(ids.get(3), "is 9", topic.now() + 60_000, true, 0, 9));
    assertEquals(past + 300, topic.due(ids.get(3)), "a merge keeps its time");
    assertEquals(3, page(TopicMessages.Place.READY, low).size());
    assertEquals(
        List.of("is 9", "fresh 3", "fresh 3, later", "grouped, 1"),
        payloads(topic.take(topic.slot(low), 9, age).taken()));
  }

  @Test
  void retimesDeletesAndHeldLanesWorkAmongPriorities() {
    send(topic.publish(A, "one", past, true, 0, 1));
    TakenMessage one = topic.take(topic.slot(A), 1, 1_000).taken().get(0);
    send(topic.publish(A, "two", past + 7, true, 0, 2));
    assertEquals(List.of(), topic.take(topic.slot(A), 9, 1_000).taken());
    assertEquals((double) past + 7, topic.score(A, "behind"));
    send(ack(one));
    send(topic.retime(A, topic.now() + 60_000));
    assertEquals(List.of(), topic.take(topic.slot(A), 9, 1_000).taken());
    send(topic.delete(A));
    assertEquals(-1, topic.score(A, "ready"));
    assertEquals(List.of("age", "fence"), topic.keys());
  }

  @Test
  void aLeaseThatRanOutIsEndedAndTheOldTokenIsRefused() {
    send(topic.publish(A, "one", past));
    TakenMessage stalled = topic.takeOne();
    assertEquals(List.of(true), topic.extend(stalled, 90_000));
    assertTrue(topic.score(A, "lease") > topic.now() + 80_000);
    topic.lapse(stalled);
    ConsumerScripts.Batch after = topic.take(topic.slot(A), 9, 0);
    assertEquals(1, after.lapsed());
    TakenMessage successor = after.taken().get(0);
    assertEquals(2, successor.attempts());
    assertEquals(1, successor.lapses());
    assertEquals(past, successor.dueMillis());
    assertNotEquals(stalled.token(), successor.token());
    assertTrue(successor.fence() > stalled.fence());
    assertEquals(List.of(false), topic.extend(stalled, 90_000));
    assertEquals(NackResult.CLAIM_LOST, topic.nack(stalled, 0, 16, 0));
    assertEquals(Kind.CLAIM_LOST, send(ack(stalled)).get(0).kind());
    assertEquals(List.of(), send(ack(successor)));
    assertTrue(topic.isNowhere(A));
  }

  @Test
  void anAcknowledgementCountsWhenAFailoverForgotItsClaimAndNobodyElseHasTheMessage() {
    MessageId grouped = id("player:1", "one");
    send(topic.publish(A, "one", past), topic.publish(grouped, "two", past));
    Map<String, byte[]> replica = topic.image();
    List<TakenMessage> handled = topic.take();
    assertEquals(2, handled.size());
    topic.failOverTo(replica);
    for (TakenMessage of : handled) {
      assertEquals(List.of(), send(ack(of)), of.id() + " was handled");
      assertEquals(Kind.CLAIM_LOST, send(ack(of)).get(0).kind());
    }
    assertEquals(List.of(), topic.keys());
  }

  @Test
  void anAcknowledgementCountsThoughAnotherOfItsGroupIsClaimedWhereAFailoverForgotItsOwnClaim() {
    MessageId before = id("player:1", "before");
    MessageId handled = id("player:1", "handled");
    send(topic.publish(before, "one", past), topic.publish(handled, "two", past + 1));
    TakenMessage first = topic.takeOne();
    Map<String, byte[]> replica =
        topic.image(); // it knows the claim of the first, and no end of it
    send(ack(first));
    TakenMessage second = topic.takeOne();
    assertEquals(handled, second.id());
    topic.failOverTo(replica);
    assertEquals(List.of(), send(ack(second)), "it was handled");
    assertEquals(List.of(), send(ack(first)), "and so was the other, whose claim stands");
    assertTrue(topic.isNowhere(handled));
    assertTrue(topic.isNowhere(before));
  }

  @Test
  void anAcknowledgementDoesNotCountOfWhatOthersHadOrMayHaveHandledSinceOrOfAnotherVersion() {
    MessageId recurs = id("b");
    send(topic.publish(A, "one", past), topic.recurring(recurs, "three", past));
    List<TakenMessage> first = topic.take();
    first.forEach(topic::lapse);
    for (TakenMessage of : first) {
      topic.take(topic.slot(of.id()), 0, 0); // puts it back
    }
    Map<String, byte[]> replica = topic.image();
    List<TakenMessage> second = topic.take();
    topic.failOverTo(replica);
    for (TakenMessage of : List.of(first.get(0), first.get(1), second.get(0), second.get(1))) {
      assertEquals(Kind.CLAIM_LOST, send(ack(of)).get(0).kind(), of.id() + " had a lease before");
    }
    send(topic.publish(A, "two", past), topic.delete(recurs), topic.recurring(recurs, "x", past));
    replica = topic.image();
    List<TakenMessage> third = topic.take();
    topic.failOverTo(replica);
    for (TakenMessage of : third) {
      long other = MessageValue.version(of.value()) - 1;
      MessageChange older = new MessageChange.Ack(of.id(), of.slot(), other, of.token(), 0);
      assertEquals(Kind.CLAIM_LOST, send(older).get(0).kind(), of.id() + " in another version");
      if (of.id().equals(recurs)) {
        assertEquals(Kind.CLAIM_LOST, send(ack(of)).get(0).kind(), "which occurrence?");
      }
    }
  }

  @Test
  void aNewerMessageReplacesOneThatFailedOrLapsed() {
    send(topic.publish(A, "one", past));
    TakenMessage one = topic.takeOne();
    send(topic.publish(A, "two", past + 5));
    assertEquals(NackResult.DROPPED, topic.nack(one, 60_000, 16, 0));
    TakenMessage two = topic.takeOne();
    assertEquals("two", payload(two.value()));
    assertEquals(1, two.attempts(), "it begins anew");
    send(topic.publish(A, "three", past + 6));
    topic.lapse(two);
    TakenMessage three = topic.takeOne();
    assertEquals("three", payload(three.value()));
    assertEquals(1, three.attempts());
    assertEquals(NackResult.BACK, topic.nack(three, 0, 16, 0));
    send(topic.publish(A, "four", past));
    assertEquals(1, topic.takeOne().attempts(), "overwritten while it waited");
  }

  @Test
  void whatIsTriedAgainIsCountedAndSaysWhyUntilItIsTakenOrReplaced() {
    MessageId grouped = id("player:1", "one");
    send(topic.publish(A, "one", past), topic.publish(grouped, "two", past));
    for (MessageId id : List.of(A, grouped)) {
      TakenMessage taken = topic.take(topic.slot(id), 9, 0).taken().get(0);
      assertEquals(NackResult.BACK, topic.nack(taken, 60_000, 16, 0));
      FoundMessage.Version waits = Objects.requireNonNull(topic.find(id).pending());
      assertEquals(List.of(1, "went wrong: ü"), List.of(waits.attempts(), waits.error()));
      TopicMessages.ListedMessage listed =
          page(TopicMessages.Place.DUE, id).stream()
              .filter(of -> of.id().equals(id))
              .findFirst()
              .orElseThrow();
      assertEquals(List.of(1, "went wrong: ü"), List.of(listed.attempts(), listed.error()));
    }
    assertEquals(1, counts(A).retrying());
    send(topic.publish(A, "newer", past));
    assertEquals(0, counts(A).retrying(), "it begins anew");
    TakenMessage newer = topic.takeOne();
    topic.lapse(newer);
    TakenMessage again = topic.takeOne();
    assertEquals(0, counts(A).retrying(), "it is held");
    assertEquals(NackResult.BACK, topic.nack(again, 60_000, 16, 0));
    send(topic.delete(A), topic.delete(grouped));
    assertEquals(Set.of("fence"), Set.copyOf(topic.keys()));
  }

  private TopicCounts counts(MessageId of) {
    return TopicMessages.counts(
        topic.redis, List.of(topic.slot(of)), ScriptedTopic.TOPIC, topic.now());
  }

  @Test
  void diesWithItsLastAttemptAndIsListedRetriedAndDiscarded() {
    send(topic.publish(A, "one", past));
    assertEquals(NackResult.BACK, topic.nack(topic.takeOne(), 0, 2, 0));
    TakenMessage second = topic.takeOne();
    assertEquals(2, second.attempts());
    assertEquals(NackResult.DEAD, topic.nack(second, 0, 2, 0));
    assertEquals(List.of(), topic.take());
    FoundMessage.Version dead = Objects.requireNonNull(topic.find(A).dead());
    assertEquals("one", payload(dead.value()));
    assertEquals(2, dead.attempts());
    assertEquals("went wrong: ü", dead.error());
    List<FoundMessage> all = new ArrayList<>();
    TopicMessages.eachDead(topic.redis, topic.slot(A), ScriptedTopic.TOPIC, all::add);
    assertEquals(List.of(A), all.stream().map(FoundMessage::id).toList());
    long version = MessageValue.version(dead.value());
    send(topic.publish(A, "newer", topic.now() + 60_000));
    assertEquals(TopicMessages.Retried.OVERTAKEN, retry(version, null));
    send(topic.delete(A));
    assertEquals(TopicMessages.Retried.GONE, retry(version + 1, null));
    byte[] binary = {0, (byte) 0xff, '\n', (byte) 0xc3};
    assertEquals(TopicMessages.Retried.RETRIED, retry(version, binary));
    assertEquals(Kind.CLAIM_LOST, send(ack(second)).get(0).kind(), "it had another payload");
    TakenMessage again = topic.takeOne();
    assertEquals(1, again.attempts());
    assertArrayEquals(binary, MessageValue.decode(again.value()).payload());
    assertEquals(NackResult.DEAD, topic.nack(again, 0, 1, 0));
    assertEquals(false, TopicMessages.discardDead(topic.redis, topic.slot(A), A, version));
    assertEquals(true, TopicMessages.discardDead(topic.redis, topic.slot(A), A, version + 1));
    assertEquals(List.of("fence"), topic.keys());
  }

  private TopicMessages.Retried retry(long version, byte @Nullable [] with) {
    return TopicMessages.retryDead(topic.redis, topic.slot(A), A, version, with);
  }

  @Test
  void tooManyDeadLettersGoOnBeingTried() {
    for (int i = 0; i < 10_000; i++) {
      topic.redis.async().hset(topic.key(A, "dead"), SlotKeys.bytes("d" + i), new byte[1]);
    }
    send(topic.publish(A, "one", past));
    assertEquals(NackResult.DEAD_FULL, topic.nack(topic.takeOne(), 0, 1, 0));
    assertTrue(topic.due(A) > topic.now() + 50_000);
    send(topic.retime(A, past));
    ConsumerScripts.Batch exhausted = topic.take(topic.slot(A), 1, 0, 1);
    assertEquals(List.of(), exhausted.taken());
    assertEquals(2, exhausted.exhausted().get(0).attempts());
  }

  @Test
  void aRecurringMessageComesAgainUntilItIsDeletedOrReplaced() {
    long next = past + 1_000;
    send(topic.recurring(A, "tick", past));
    TakenMessage first = topic.takeOne();
    assertEquals(List.of(), send(ack(first, next)));
    TakenMessage second = topic.takeOne();
    assertEquals(next, second.dueMillis());
    assertEquals(next, MessageValue.decode(second.value()).sinceMillis(), "of the occurrence");
    assertEquals(NackResult.BACK, topic.nack(second, 0, 2, next + 1_000));
    TakenMessage failed = topic.takeOne();
    assertEquals(next, MessageValue.decode(failed.value()).sinceMillis(), "still the same");
    assertEquals(NackResult.DEAD, topic.nack(failed, 0, 2, next + 1_000));
    TakenMessage third = topic.takeOne();
    assertEquals(next + 1_000, third.dueMillis(), "the series goes on beside the dead letter");
    assertEquals(1, third.attempts());
    send(topic.publish(A, "once", past));
    send(ack(third, next + 2_000));
    TakenMessage replaced = topic.takeOne();
    assertEquals("once", payload(replaced.value()), "something newer is pending");
    send(ack(replaced));
    assertEquals(List.of(), topic.take());
    send(topic.recurring(A, "tick", past));
    TakenMessage held = topic.takeOne();
    send(topic.delete(A));
    assertEquals(List.of(), send(ack(held, next)), "deleted while it was held: finished");
    assertEquals(List.of(), topic.take());
    send(topic.publish(A, "fails", past));
    TakenMessage fails = topic.takeOne();
    send(topic.delete(A));
    assertEquals(NackResult.DROPPED, topic.nack(fails, 0, 16, 0));
    assertNull(topic.find(A).pending());
  }

  /** A node's name stands in the record of a claim, next to whether the message was deleted. */
  @Test
  void aRecurringMessageGoesOnWhateverItsNodeIsCalled() {
    for (String name : List.of("x", "deleted", "held", "1", "n x", "")) {
      topic.consumer = name;
      send(topic.recurring(A, "tick", past));
      TakenMessage first = topic.takeOne();
      assertEquals(
          name.isEmpty() ? "-" : name, Objects.requireNonNull(topic.find(A).held()).node());
      assertEquals(name.isEmpty() ? "-" : name, page(TopicMessages.Place.HELD, A).get(0).node());
      assertEquals(List.of(), send(ack(first, past + 1_000)));
      assertEquals(past + 1_000, topic.due(A), "the next occurrence, with a node named " + name);
      TakenMessage second = topic.takeOne();
      send(topic.delete(A));
      assertEquals(List.of(), send(ack(second, past + 2_000)));
      assertTrue(topic.isNowhere(A), "deleted while it was held by a node named " + name);
    }
  }

  /** Handlers that were killed before an upgrade leave claims as the build before wrote them. */
  @Test
  void claimsOfTheFormBeforeAreRead() {
    for (String mark : List.of("", " x")) {
      send(topic.recurring(A, "tick", past));
      TakenMessage taken = topic.takeOne();
      topic
          .redis
          .sync()
          .hset(
              topic.key(A, "claim"),
              Map.of(
                  SlotKeys.bytes(A.lane()),
                  SlotKeys.bytes(taken.token() + " " + A.id() + " 3 1 " + past + " x" + mark)));
      FoundMessage.Version held = Objects.requireNonNull(topic.find(A).held());
      assertEquals("x", held.node());
      assertEquals(3, held.attempts());
      topic.lapse(taken);
      if (mark.isEmpty()) {
        TakenMessage again = topic.takeOne();
        assertEquals(4, again.attempts());
        assertEquals(2, again.lapses());
        send(ack(again));
      } else {
        assertEquals(List.of(), topic.take(), "it was deleted");
      }
      assertTrue(topic.isNowhere(A));
    }
  }

  @Test
  void theFenceRisesWhereAServerTookOverThatForgotTakesAndWhoseClockIsBehind() {
    topic.latest.set(topic.now() + 3_600_000);
    long before = topic.latest.get() << 16;
    for (MessageId id : List.of(A, inSlotOfA("next"))) {
      send(topic.publish(id, "one", past));
      TakenMessage taken = topic.takeOne();
      assertTrue(taken.fence() >= before, taken.fence() + " after " + before);
      before = taken.fence() + 1;
      topic.latest.set(0); // a node that knows of no other clock
    }
  }

  /** The newest take was at this time of a clock that went back since. */
  private void tookAt(long millis) {
    topic.redis.sync().set(topic.key(A, "fence"), SlotKeys.bytes(millis + " 0"));
  }

  @Test
  void whenRedisClockWentBackARecurringMessageOccursWithinItsIntervalAgain() {
    long ahead = topic.now() + 3_600_000;
    MessageId grouped = inSlotOfA("player:");
    MessageId timed = inSlotOfA("timed");
    MessageId postponed = inSlotOfA("postponed");
    send(
        topic.recurring(A, "tick", ahead + 500),
        topic.recurring(grouped, "tick", ahead + 500),
        topic.recurring(postponed, "tick", past),
        topic.publish(timed, "at six", ahead + 500));
    send(topic.retime(postponed, ahead + 500));
    tookAt(ahead);
    ConsumerScripts.Batch nothing = topic.take(topic.slot(A), 9, 0);
    assertEquals(List.of(), nothing.taken());
    assertTrue(nothing.waitMillis() >= 0 && nothing.waitMillis() <= 1_000, nothing::toString);
    for (MessageId id : List.of(A, grouped)) {
      long due = topic.due(id);
      assertTrue(due <= topic.now() + 1_000, id + " is due at " + due);
      assertEquals(0, (ahead + 500 - due) % 1_000, "in its rhythm");
      assertEquals(due, MessageValue.decode(topic.value(id)).sinceMillis(), "of that occurrence");
    }
    assertEquals(ahead + 500, topic.due(timed), "what has a time of its own keeps it");
    assertEquals(ahead + 500, topic.due(postponed));
  }

  @Test
  void whoGotARecurringMessageBeforeRedisClockWentBackPutsItOffByItsIntervalAtMost() {
    long ahead = topic.now() + 3_600_000;
    for (boolean dies : List.of(false, true)) {
      send(topic.recurring(A, "tick", past));
      TakenMessage taken = topic.takeOne();
      tookAt(ahead);
      if (dies) {
        assertEquals(NackResult.DEAD, topic.nack(taken, 0, 1, ahead + 500));
      } else {
        assertEquals(List.of(), send(ack(taken, ahead + 500)));
      }
      assertTrue(topic.due(A) <= topic.now() + 1_000, "due at " + topic.due(A));
    }
  }

  @Test
  void whenRedisClockWentBackLeasesAndBackoffsEndAsLongAfterAsTheyWereToLast() {
    send(topic.publish(A, "held", past));
    TakenMessage held = topic.takeOne();
    MessageId failed = inSlotOfA("failed");
    send(topic.publish(failed, "failed", past));
    topic.nack(topic.takeOne(), 3_600_000 + 5_000, 16, 0);
    long ahead = topic.now() + 3_600_000;
    topic
        .redis
        .sync()
        .zadd(topic.key(A, "lease"), (double) ahead + 90_000, SlotKeys.bytes(A.lane()));
    tookAt(ahead);
    topic.take(topic.slot(A), 9, 0);
    assertTrue(topic.score(A, "lease") <= topic.now() + 90_000, "as it was extended");
    assertTrue(topic.score(A, "lease") >= topic.now() + ScriptedTopic.LEASE - 5_000);
    assertTrue(topic.due(failed) <= topic.now() + 6_000, "due at " + topic.due(failed));
    assertEquals(List.of(), send(ack(held)), "its claim stands");
  }

  @Test
  void whenRedisClockWentBackAGroupThatWasPutOffIsDueWithItsFirstMessage() {
    MessageId grouped = inSlotOfA("player:");
    send(topic.publish(grouped, "waits", past));
    long ahead = topic.now() + 3_600_000;
    topic
        .redis
        .sync()
        .zadd(topic.key(grouped, "due"), (double) ahead, SlotKeys.bytes(grouped.lane()));
    tookAt(ahead);
    assertEquals(1, topic.take(topic.slot(A), 9, 0).taken().size());
  }

  private static MessageId inSlotOfA(String prefix) {
    String group = prefix.endsWith(":") ? prefix + "g" : null;
    for (int i = 0; ; i++) {
      MessageId id =
          MessageId.of(ScriptedTopic.TOPIC, group == null ? null : group + i, prefix + i);
      if (id.slot(4) == A.slot(4)) {
        return id;
      }
    }
  }

  @Test
  void theNextOfAGroupIsWokenAndNoticesTellWhatIsDueSooner() throws Exception {
    LinkedBlockingQueue<Integer> notices = new LinkedBlockingQueue<>();
    try (ChannelListener listening =
        new ChannelListener(
            topic.connector,
            (channel, slot) -> notices.add(Integer.parseInt(slot)),
            topic.namespace + ":t:" + ScriptedTopic.TOPIC)) {
      listening.keep();
      send(topic.publish(A, "far", topic.now() + 60_000));
      send(topic.publish(A, "soon", topic.now() + 1_000));
      int slot = A.slot(4);
      assertEquals(slot, notices.poll(30, TimeUnit.SECONDS));
      send(topic.publish(A, "later", topic.now() + 2_000));
      send(topic.publish(A, "now", past));
      assertEquals(slot, notices.poll(30, TimeUnit.SECONDS));
      TakenMessage now = topic.takeOne();
      send(topic.publish(A, "next", topic.now()));
      assertEquals(slot, notices.poll(30, TimeUnit.SECONDS));
      topic.take();
      send(ack(now));
      assertEquals(slot, notices.poll(30, TimeUnit.SECONDS));
      assertEquals(0, notices.size(), "nothing for what is later, or far off");
    }
  }
}
