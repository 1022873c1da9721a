package io.gameq.subscription;

import static io.gameq.servers.Waits.LONG;
import static java.time.Duration.ZERO;
import static java.time.Duration.ofMillis;
import static java.time.Duration.ofSeconds;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.gameq.GameQueue;
import io.gameq.GameQueueException;
import io.gameq.topic.Claimed;
import io.gameq.topic.Claims;
import io.gameq.topic.Message;
import io.gameq.topic.Publish;
import io.gameq.topic.Retry;
import io.gameq.topic.Topic;
import io.gameq.topic.TopicOptions;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Messages taken by hand: waited for, ended on another node, lost. */
class ClaimsTest {
  private static final TopicFixture FIXTURE = new TopicFixture();

  @TempDir static Path wals;

  private static GameQueue queue;
  private static GameQueue other;

  record Text(String text) {}

  @BeforeAll
  static void start() {
    queue = FIXTURE.node("n1", wals);
    other = FIXTURE.node("n2", wals);
  }

  @AfterAll
  static void stop() {
    queue.close();
    other.close();
  }

  private static <T> T get(CompletableFuture<T> future) throws Exception {
    return future.get(LONG.toMillis(), TimeUnit.MILLISECONDS);
  }

  private static <T> Claimed<T> one(Topic<T> topic) throws Exception {
    List<Claimed<T>> taken = get(topic.claims().take(1, LONG));
    assertEquals(1, taken.size());
    return taken.get(0);
  }

  @Test
  void whoWaitsGetsAMessageAsSoonAsItFallsDueAndAnotherNodeAcknowledgesIt() throws Exception {
    Topic<Text> topic = queue.topic("claim", Text.class);
    CompletableFuture<List<Claimed<Text>>> waiting = topic.claims().take(10, LONG);
    topic.publish(Publish.of("k", new Text("x")).group("g").after(ofMillis(100)));
    Claimed<Text> taken = get(waiting).get(0);
    assertEquals(new Text("x"), taken.payload());
    assertEquals("g", taken.group());
    assertEquals(1, taken.attempt());
    assertEquals(Message.State.HELD, topic.get("g", "k").orElseThrow().state());
    Topic<byte[]> there = other.definedTopic("claim").orElseThrow();
    assertEquals(List.of(), get(there.claims().acknowledge(List.of(taken.claim()))));
    assertTrue(topic.get("g", "k").isEmpty());
    assertEquals(
        List.of(taken.claim()),
        get(topic.claims().acknowledge(List.of(taken.claim()))),
        "it has ended");
  }

  @Test
  void ofSeveralClaimsTheLostOnesAreNamedAndTheOthersAreDone() throws Exception {
    Topic<Text> topic =
        queue.topic("some-lost", Text.class, TopicOptions.DEFAULT.lease(ofSeconds(3)));
    topic.publish(Publish.of("a", new Text("a"))).awaitQueued(LONG);
    Claimed<Text> first = one(topic);
    Claimed<Text> second = one(topic); // its lease ran out
    assertEquals("a", second.key());
    assertEquals(2, second.attempt());
    assertTrue(second.fence() > first.fence());
    assertEquals(List.of(), topic.claims().extend(List.of(second.claim()), ofSeconds(60)));
    topic.publish(Publish.of("b", new Text("b"))).awaitQueued(LONG);
    Claimed<Text> b = one(topic);
    assertEquals(
        List.of(first.claim()),
        get(
            topic
                .claims()
                .acknowledge(List.of(b.claim(), first.claim(), second.claim(), b.claim()))));
    assertEquals(0, topic.counts().held());
    assertEquals(List.of(first.claim()), topic.claims().fail(List.of(first.claim()), "x", null));
  }

  @Test
  void whatFailedIsTakenAgainAndInTheEndADeadLetter() throws Exception {
    Topic<Text> topic = queue.topic("fails", Text.class, twice());
    topic.publish("k", new Text("x"));
    Claims<Text> claims = topic.claims();
    assertEquals(List.of(), claims.fail(List.of(one(topic).claim()), "first", ZERO));
    Claimed<Text> again = one(topic);
    assertEquals(2, again.attempt());
    assertEquals(List.of(), claims.fail(List.of(again.claim()), "no bank", null));
    Message<Text> dead = topic.get("k").orElseThrow();
    assertEquals(Message.State.DEAD, dead.state());
    assertEquals("no bank", dead.error());
  }

  @Test
  void whatIsGivenBackIsTakenAgainHoweverOftenAndNeverADeadLetter() throws Exception {
    Topic<Text> topic = queue.topic("given-back", Text.class, twice());
    topic.publish("k", new Text("x"));
    for (int i = 0; i < 4; i++) {
      Claimed<Text> taken = one(topic);
      assertEquals(1, taken.attempt());
      assertEquals(List.of(), topic.claims().giveBack(List.of(taken.claim()), ZERO));
      assertEquals(List.of(taken.claim()), topic.claims().giveBack(List.of(taken.claim()), ZERO));
    }
    assertEquals(0, topic.counts().dead());
  }

  private static TopicOptions twice() {
    return TopicOptions.DEFAULT.retry(Retry.fixed(ofSeconds(1)).attempts(2));
  }

  @Test
  void aRecurringMessageGoesOnAfterItsClaimWasAcknowledged() throws Exception {
    Topic<Text> topic = queue.topic("recurs", Text.class);
    topic.publish(
        Publish.of("k", new Text("x")).every(ofMillis(50)).count(2).missed(Publish.Missed.ALL));
    assertEquals(List.of(), get(topic.claims().acknowledge(List.of(one(topic).claim()))));
    assertEquals(List.of(), get(topic.claims().acknowledge(List.of(one(topic).claim()))));
    assertTrue(topic.get("k").isEmpty());
  }

  @Test
  void whoDoesNotWaitGetsWhatIsDueAndElseNothing() throws Exception {
    Topic<Text> topic = queue.topic("at-once", Text.class);
    assertEquals(List.of(), get(topic.claims().take(5, ZERO)));
    for (int i = 0; i < 20; i++) {
      topic.publish("k" + i, new Text("x")).awaitQueued(LONG);
      assertEquals("k" + i, get(topic.claims().take(1, ZERO)).get(0).key());
    }
    assertEquals(List.of(), get(topic.claims().take(5, ofMillis(20))));
  }

  @Test
  void whoeverGaveUpTakesNothing() throws Exception {
    Topic<Text> topic = queue.topic("gave-up", Text.class);
    CompletableFuture<List<Claimed<Text>>> gaveUp = topic.claims().take(1, LONG);
    assertTrue(gaveUp.cancel(false));
    topic.publish("k", new Text("x")).awaitQueued(LONG);
    assertEquals("k", one(topic).key());
  }

  @Test
  void aTopicIsOpenedAsItWasDefinedAndWhatIsNoClaimOfItIsRefused() throws Exception {
    TopicOptions options =
        TopicOptions.DEFAULT
            .slots(2)
            .priorities(ofMillis(7))
            .window(ofMillis(8))
            .lease(Duration.ofMinutes(3))
            .retry(Retry.exponential(ofMillis(1500), ofSeconds(9)).attempts(3));
    queue.topic("defined", Text.class, options);
    Topic<byte[]> defined = other.definedTopic("defined").orElseThrow();
    assertEquals(options, defined.options());
    assertTrue(other.definedTopic("nobodys").isEmpty());
    queue.topic("other", Text.class).publish("k", new Text("x"));
    String foreign = one(queue.topic("other", Text.class)).claim();
    for (String text : List.of("", "x", "é", "AAAA", foreign)) {
      assertThrows(
          GameQueueException.class, () -> defined.claims().acknowledge(List.of(text)), text);
    }
    assertFalse(
        defined.claims().extend(List.of(), ofSeconds(1)).contains(foreign), "none is no error");
    await().atMost(LONG).until(() -> defined.counts().held() == 0);
  }
}
