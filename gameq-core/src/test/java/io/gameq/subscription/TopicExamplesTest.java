package io.gameq.subscription;

import static io.gameq.servers.Waits.LONG;
import static java.time.Duration.ofMillis;
import static java.time.Duration.ofSeconds;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.gameq.CommitReceipt;
import io.gameq.GameQueue;
import io.gameq.GameQueueException;
import io.gameq.OwnerSession;
import io.gameq.subscription.TopicFixture.Inbox;
import io.gameq.topic.Delivery;
import io.gameq.topic.Message;
import io.gameq.topic.Publish;
import io.gameq.topic.Retry;
import io.gameq.topic.SubscribeOptions;
import io.gameq.topic.Subscription;
import io.gameq.topic.Topic;
import io.gameq.topic.TopicOptions;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The examples of gameq-core/TOPICS.md, one for each kind: what they say, they do. */
class TopicExamplesTest {
  private static final TopicFixture FIXTURE = new TopicFixture();
  private static final SubscribeOptions ONE_BY_ONE = SubscribeOptions.DEFAULT.concurrency(1);

  @TempDir static Path wals;

  private static GameQueue queue;

  record Mail(long playerId, String text) {}

  record Points(long points) {}

  record Building(long playerId, String kind, int level) {}

  record Purse(long playerId, long gold) {}

  record Season(int number) {}

  @BeforeAll
  static void start() {
    queue = FIXTURE.node("n1", wals);
  }

  @AfterAll
  static void stop() {
    queue.close();
  }

  @Test
  void immediate() throws Exception {
    Inbox<Mail> inbox = new Inbox<>();
    Topic<Mail> mails = queue.topic("mail", Mail.class);
    mails.subscribe(inbox);
    mails.publish("mail:1", new Mail(42, "welcome"));
    assertEquals(new Mail(42, "welcome"), inbox.next().payload());
    await().atMost(LONG).until(() -> mails.counts().held() == 0);
    assertEquals(Optional.empty(), mails.get("mail:1"));
  }

  @Test
  void mergeWindow() throws Exception {
    Inbox<Points> inbox = new Inbox<>();
    Topic<Points> ranking =
        queue.topic("ranking", Points.class, TopicOptions.DEFAULT.window(ofSeconds(2)));
    ranking.subscribe(inbox);
    for (int i = 1; i <= 100; i++) {
      ranking.publish("clan:7", new Points(i)); // one run for all, with the latest
    }
    Delivery<Points> run = inbox.next();
    assertEquals(new Points(100), run.payload());
    assertTrue(Duration.between(run.since(), run.due()).toMillis() >= 2_000, run.due().toString());
    assertTrue(inbox.isEmpty());
  }

  @Test
  void combinedByThePublishersMergeFunction() {
    Topic<Points> damage = queue.topic("damage", Points.class);
    Publish<Points> hit = Publish.of("boss:1", new Points(5)).after(Duration.ofHours(1));
    List<CompletableFuture<Void>> players = new ArrayList<>();
    for (int player = 0; player < 4; player++) {
      players.add(
          CompletableFuture.runAsync(
              () -> {
                for (int i = 0; i < 25; i++) {
                  damage.merge(hit, (a, b) -> new Points(a.points() + b.points()));
                }
              },
              task -> new Thread(task).start()));
    }
    players.forEach(CompletableFuture::join);
    assertEquals(new Points(500), damage.get("boss:1").orElseThrow().payload());
  }

  @Test
  void putOffWithAHardCap() throws Exception {
    Inbox<Points> inbox = new Inbox<>();
    Topic<Points> saves = queue.topic("save", Points.class);
    saves.subscribe(inbox);
    int published = 0;
    while (inbox.isEmpty()) { // it would be put off for ever
      saves
          .publish(
              Publish.of("game:1", new Points(++published))
                  .after(Duration.ofSeconds(30))
                  .cap(ofMillis(500)))
          .awaitQueued(LONG);
      Thread.onSpinWait();
    }
    Delivery<Points> save = inbox.next();
    assertEquals(500, Duration.between(save.since(), save.due()).toMillis());
    assertTrue(save.payload().points() > 1);
  }

  @Test
  void priorityHigherFirstAndFairAmongEquals() throws Exception {
    Inbox<Mail> inbox = new Inbox<>();
    Topic<Mail> support =
        queue.topic(
            "support", Mail.class, TopicOptions.DEFAULT.slots(1).priorities(Duration.ofMinutes(1)));
    Mail mail = new Mail(1, "help");
    support.publish(Publish.of("first", mail)).awaitQueued(LONG);
    support.publish(Publish.of("second", mail).after(ofMillis(1))).awaitQueued(LONG);
    support.publish(Publish.of("paying", mail).priority(10)).awaitQueued(LONG);
    support.publish(Publish.of("angry", mail).priority(-5)).awaitQueued(LONG);
    support.publish(Publish.of("angry", mail).priority(20)).awaitQueued(LONG); // the later decides
    await().atMost(LONG).until(() -> support.counts().due() == 4);
    support.subscribe(inbox, ONE_BY_ONE);
    assertEquals(List.of("angry", "paying", "first", "second"), inbox.keys(4));
  }

  @Test
  void ageing() throws Exception {
    Inbox<Mail> inbox = new Inbox<>();
    Topic<Mail> reports =
        queue.topic(
            "report", Mail.class, TopicOptions.DEFAULT.slots(1).priorities(Duration.ofSeconds(1)));
    Mail mail = new Mail(1, "report");
    Instant hourAgo = Instant.now().minusSeconds(3_600);
    reports.publish(Publish.of("new and high", mail).priority(1_000)).awaitQueued(LONG);
    reports.publish(Publish.of("old and low", mail).at(hourAgo)).awaitQueued(LONG);
    reports.publish(Publish.of("new and low", mail)).awaitQueued(LONG);
    reports.subscribe(inbox, ONE_BY_ONE);
    assertEquals(List.of("old and low", "new and high", "new and low"), inbox.keys(3));
  }

  @Test
  void aPriorityThatIsTooHighForItsTopicsAgeingIsRefusedAndBelowItEqualsStayInOrder()
      throws Exception {
    Topic<Mail> reports =
        queue.topic(
            "yearly", Mail.class, TopicOptions.DEFAULT.slots(1).priorities(Duration.ofDays(366)));
    Mail mail = new Mail(1, "report");
    int highest = 142_418; // 2^52 ms by 366 days
    Instant hourAgo = Instant.now().minusSeconds(3_600);
    for (int i = 9; i >= 0; i--) {
      reports
          .publish(Publish.of("k" + i, mail).priority(highest).at(hourAgo.plusMillis(i)))
          .awaitQueued(LONG);
      reports
          .publish(Publish.of("low" + i, mail).priority(-highest).at(hourAgo.plusMillis(i)))
          .awaitQueued(LONG);
    }
    Inbox<Mail> inbox = new Inbox<>();
    reports.subscribe(inbox, ONE_BY_ONE);
    List<String> inOrder = new ArrayList<>();
    for (String prefix : List.of("k", "low")) {
      for (int i = 0; i < 10; i++) {
        inOrder.add(prefix + i);
      }
    }
    assertEquals(inOrder, inbox.keys(20));
    for (int tooHigh : List.of(highest + 1, -highest - 1, Integer.MAX_VALUE, Integer.MIN_VALUE)) {
      GameQueueException refused =
          assertThrows(
              GameQueueException.class,
              () -> reports.publish(Publish.of("k", mail).priority(tooHigh)));
      assertTrue(refused.getMessage().contains("142418"), refused.getMessage());
      assertTrue(refused.getMessage().contains("PT8784H"), refused.getMessage());
    }
  }

  @Test
  void timedAtAnInstantAndAfterADelayTheOldestFirst() throws Exception {
    Inbox<Building> inbox = new Inbox<>();
    Topic<Building> building =
        queue.topic("building", Building.class, TopicOptions.DEFAULT.slots(1));
    Building palace = new Building(42, "palace", 3);
    Instant now = Instant.now();
    building.publish(Publish.of("b", palace).at(now.minusSeconds(10)));
    building.publish(Publish.of("c", palace).after(ofMillis(150)));
    building.publish(Publish.of("a", palace).at(now.minusSeconds(20))).awaitQueued(LONG);
    building.publish(Publish.of("years", palace).after(Duration.ofDays(3_000))).awaitQueued(LONG);
    building.subscribe(inbox, ONE_BY_ONE);
    assertEquals(List.of("a", "b", "c"), inbox.keys(3));
    assertTrue(building.get("years").isPresent());
    building.delete("years").awaitQueued(LONG);
    assertEquals(Optional.empty(), building.get("years"));
  }

  @Test
  void postponedAndPulledForward() throws Exception {
    Inbox<Building> inbox = new Inbox<>();
    Topic<Building> upgrade = queue.topic("upgrade", Building.class);
    upgrade.subscribe(inbox);
    upgrade
        .publish(Publish.of("wall:1", new Building(1, "wall", 2)).after(Duration.ofHours(8)))
        .awaitQueued(LONG);
    upgrade.retime("wall:1", Duration.ofHours(9)).awaitQueued(LONG);
    Instant due = upgrade.get("wall:1").orElseThrow().due();
    assertTrue(due.isAfter(Instant.now().plus(Duration.ofMinutes(530))), due.toString());
    upgrade.retime("wall:1", Duration.ZERO); // paid for with gems
    assertEquals("wall:1", inbox.next().key());
  }

  @Test
  void recurringAtAnIntervalWithACount() throws Exception {
    Inbox<Points> inbox = new Inbox<>();
    Topic<Points> ticks = queue.topic("tick", Points.class);
    ticks.subscribe(inbox);
    ticks
        .publish(
            Publish.of("map", new Points(1))
                .every(ofMillis(60))
                .count(3)
                .missed(Publish.Missed.ALL))
        .awaitQueued(LONG);
    List<Instant> since = new ArrayList<>();
    for (int i = 0; i < 3; i++) {
      since.add(inbox.next().since());
    }
    assertEquals(since.get(0).plusMillis(60), since.get(1));
    assertEquals(since.get(1).plusMillis(60), since.get(2));
    await().atMost(LONG).until(() -> ticks.counts().held() == 0);
    assertEquals(Optional.empty(), ticks.get("map"), "the third was the last one");
  }

  @Test
  void recurringByCronInAZone() throws Exception {
    Inbox<Season> inbox = new Inbox<>();
    Topic<Season> seasons = queue.topic("season", Season.class);
    seasons.subscribe(inbox);
    ZoneId berlin = ZoneId.of("Europe/Berlin");
    seasons
        .publish(Publish.of("season", new Season(1)).cron("0 4 * * MON", berlin))
        .awaitQueued(LONG);
    Instant monday = seasons.get("season").orElseThrow().due();
    assertEquals(4, monday.atZone(berlin).getHour());
    seasons.retime("season", Duration.ZERO); // this once now; the rhythm stays
    assertEquals(monday, inbox.next().since());
    await().atMost(LONG).until(() -> seasons.counts().pending() == 1);
    assertEquals(
        monday.atZone(berlin).plusWeeks(1).toInstant(), seasons.get("season").orElseThrow().due());
  }

  @Test
  void recurringUntilAnInstant() throws Exception {
    Inbox<Points> inbox = new Inbox<>();
    Topic<Points> events = queue.topic("event", Points.class);
    events.subscribe(inbox);
    Instant start = Instant.now().plusSeconds(1);
    events.publish(
        Publish.of("rain", new Points(1))
            .at(start)
            .every(ofMillis(100))
            .until(start.plusMillis(250))
            .missed(Publish.Missed.ALL));
    Instant first = inbox.next().since();
    assertEquals(first.plusMillis(100), inbox.next().since());
    assertEquals(first.plusMillis(200), inbox.next().since());
    await().atMost(LONG).until(() -> events.get("rain").isEmpty());
  }

  @Test
  void missedOccurrences() throws Exception {
    assertEquals(12, runsOf(Publish.Missed.ALL), "one after another");
    assertTrue(runsOf(Publish.Missed.ONCE) < 6, "one for all that were missed");
    assertTrue(runsOf(Publish.Missed.SKIP) < 8, "none that is later than a lease");
  }

  /** Twelve occurrences at 40 ms, of which the first eight or so find no consumer. */
  private static int runsOf(Publish.Missed policy) throws InterruptedException {
    Topic<Points> duty =
        queue.topic(
            "missed_" + policy.name().toLowerCase(Locale.ROOT),
            Points.class,
            TopicOptions.DEFAULT.lease(ofMillis(100)));
    duty.publish(Publish.of("duty", new Points(1)).every(ofMillis(40)).count(12).missed(policy))
        .awaitQueued(LONG);
    Instant eighth = duty.get("duty").orElseThrow().due().plusMillis(40 * 7);
    await().atMost(LONG).until(() -> Instant.now().isAfter(eighth));
    AtomicInteger runs = new AtomicInteger();
    duty.subscribe(delivery -> runs.incrementAndGet());
    await().atMost(LONG).until(() -> duty.get("duty").isEmpty());
    return runs.get();
  }

  @Test
  void serialPerGroup() throws Exception {
    Topic<Mail> orders = queue.topic("order", Mail.class);
    AtomicInteger atATime = new AtomicInteger();
    AtomicInteger most = new AtomicInteger();
    Inbox<Mail> inbox = new Inbox<>();
    for (int i = 1; i <= 5; i++) {
      orders
          .publish(Publish.of("order:" + i, new Mail(42, "order")).group("player:42"))
          .awaitQueued(LONG);
      await().pollDelay(ofMillis(2)).until(() -> true); // by due time: not in one millisecond
    }
    orders.subscribe(
        delivery -> {
          most.accumulateAndGet(atATime.incrementAndGet(), Math::max);
          inbox.handle(delivery);
          Thread.sleep(5);
          atATime.decrementAndGet();
        },
        SubscribeOptions.DEFAULT.concurrency(8));
    assertEquals(List.of("order:1", "order:2", "order:3", "order:4", "order:5"), inbox.keys(5));
    assertEquals(1, most.get());
  }

  /** A player as the game has it: what it remembers follows what was committed. */
  private static final class Player {
    private OwnerSession session = queue.open("player:42");
    private long gold = session.rows(Purse.class).get(0).gold();

    void reward(Delivery<Points> delivery) {
      session.put(new Purse(42, gold + delivery.payload().points()));
      try {
        delivery.ackWith(session).awaitQueued(delivery.remaining());
        gold += delivery.payload().points();
      } catch (GameQueueException e) {
        session.close();
        session = queue.open("player:42");
        gold = session.rows(Purse.class).get(0).gold();
        throw e; // it is tried again
      }
    }
  }

  @Test
  void rowsAreChangedExactlyOnce() throws Exception {
    Topic<Points> rewards =
        queue.topic(
            "reward",
            Points.class,
            TopicOptions.DEFAULT.lease(ofMillis(500)).retry(Retry.fixed(ofMillis(1))));
    try (OwnerSession before = queue.open("player:42")) {
      before.put(new Purse(42, 100));
      before.commit().awaitQueued(LONG);
    }
    Player player = new Player();
    AtomicInteger attempts = new AtomicInteger();
    Subscription handled =
        rewards.subscribe(
            delivery -> {
              if (attempts.incrementAndGet() == 1) {
                await().atMost(LONG).until(() -> attempts.get() == 2); // beyond its lease
              }
              synchronized (player) {
                player.reward(delivery);
              }
            });
    rewards.publish("quest:9", new Points(50));
    await().atMost(LONG).until(() -> handled.counts().handled() == 1);
    await().atMost(LONG).until(() -> handled.counts().lost() == 1);
    assertEquals(150, player.gold);
    assertEquals(List.of(new Purse(42, 150)), queue.read("player:42", Purse.class));
    assertEquals(Optional.empty(), rewards.get("quest:9"));
    player.session.close();
  }

  @Test
  void aTimerIsCancelledOrPutOffTogetherWithRows() {
    Topic<Building> timers = queue.topic("timers", Building.class);
    Building tower = new Building(8, "tower", 1);
    Publish<Building> later = Publish.of("tower:8", tower).after(Duration.ofHours(8));
    timers.publish(later).awaitQueued(LONG);
    timers.publish(later.group("player:8")).awaitQueued(LONG);
    try (OwnerSession player = queue.open("player:8")) {
      player.put(new Purse(8, 1));
      player.delete(timers, "tower:8");
      player.rollback(); // neither
      player.commit().awaitQueued(LONG);
      assertTrue(timers.get("tower:8").isPresent());
      player.put(new Purse(8, 2));
      player.delete(timers, "tower:8");
      player.retime(timers, "player:8", "tower:8", Instant.parse("2100-01-01T00:00:00Z"));
      player.commit().awaitQueued(LONG);
      assertEquals(List.of(new Purse(8, 2)), queue.read("player:8", Purse.class));
      assertEquals(Optional.empty(), timers.get("tower:8"));
      assertEquals(
          Instant.parse("2100-01-01T00:00:00Z"),
          timers.get("player:8", "tower:8").orElseThrow().due());
      player.delete(timers, "player:8", "tower:8");
      player.publish(timers, later.group("player:8")); // the last one counts
      player.publish(timers, later);
      player.delete(timers, "tower:8");
      player.commit().awaitQueued(LONG);
      assertEquals(Optional.empty(), timers.get("tower:8"));
      assertTrue(
          timers
              .get("player:8", "tower:8")
              .orElseThrow()
              .due()
              .isBefore(Instant.now().plus(Duration.ofDays(1))));
      assertThrows(
          IllegalStateException.class,
          () ->
              queue.transact(
                  player,
                  tx -> {
                    tx.delete(timers, "player:8", "tower:8");
                    throw new IllegalStateException("not after all");
                  }));
      assertTrue(timers.get("player:8", "tower:8").isPresent());
      queue
          .transact(
              player,
              tx -> {
                tx.put(new Purse(8, 3));
                tx.delete(timers, "player:8", "tower:8");
              })
          .awaitQueued(LONG);
      assertEquals(Optional.empty(), timers.get("player:8", "tower:8"));
      assertEquals(List.of(new Purse(8, 3)), queue.read("player:8", Purse.class));
    }
  }

  @Test
  void inTheSameCommitAsRows() throws Exception {
    Topic<Building> finished = queue.topic("finished", Building.class);
    try (OwnerSession player = queue.open("player:7")) {
      player.put(new Purse(7, 10));
      player.publish(
          finished, Publish.of("tower:7", new Building(7, "tower", 1)).after(Duration.ofHours(8)));
      player.rollback(); // neither
      player.commit().awaitQueued(LONG);
      assertEquals(Optional.empty(), finished.get("tower:7"));
      assertEquals(List.of(), queue.read("player:7", Purse.class));

      player.put(new Purse(7, 10));
      player.publish(
          finished, Publish.of("tower:7", new Building(7, "tower", 1)).after(Duration.ofHours(8)));
      player.commit().awaitQueued(LONG); // both
      assertEquals(Message.State.PENDING, finished.get("tower:7").orElseThrow().state());
      assertEquals(List.of(new Purse(7, 10)), queue.read("player:7", Purse.class));
    }
  }

  @Test
  void triedAgainAndThenADeadLetter() throws Exception {
    Topic<Mail> pushes =
        queue.topic(
            "push", Mail.class, TopicOptions.DEFAULT.retry(Retry.after(ofMillis(5), ofMillis(10))));
    Inbox<Mail> inbox = new Inbox<>();
    AtomicInteger failures = new AtomicInteger(3);
    Subscription subscription =
        pushes.subscribe(
            delivery -> {
              if (failures.getAndDecrement() > 0) {
                throw new IllegalStateException("the phone is off");
              }
              inbox.handle(delivery);
            });
    pushes.publish("push:1", new Mail(1, "attack!"));
    await().atMost(LONG).until(() -> pushes.counts().dead() == 1);
    Message<Mail> dead = pushes.list(Message.State.DEAD).messages().get(0);
    assertEquals("java.lang.IllegalStateException: the phone is off", dead.error());
    assertEquals(3, dead.attempts());
    assertEquals(1, subscription.counts().dead());
    assertTrue(pushes.retryDead(dead));
    assertEquals(new Mail(1, "attack!"), inbox.next().payload());
    assertFalse(pushes.discardDead(dead), "it is none any more");
  }

  @Test
  void severalAtATime() throws Exception {
    Topic<Points> scores = queue.topic("score", Points.class);
    List<Publish<Points>> all = new ArrayList<>();
    for (int i = 0; i < 200; i++) {
      all.add(Publish.of("player:" + i, new Points(i)));
    }
    scores.publish(all).awaitQueued(LONG); // one commit
    AtomicInteger largest = new AtomicInteger();
    Subscription subscription =
        scores.subscribeBatch(
            batch -> {
              largest.accumulateAndGet(batch.size(), Math::max);
              batch.get(0).fail("one of them alone is tried again");
            },
            SubscribeOptions.DEFAULT.concurrency(1).batch(100));
    await().atMost(LONG).until(() -> subscription.counts().handled() >= 190);
    assertTrue(largest.get() > 10, "it was " + largest);
    assertTrue(subscription.counts().failed() >= 1);
  }

  @Test
  void aDifferentDefinitionIsRefusedAndBothAreShown() {
    Topic<byte[]> plain = queue.topic("plain", TopicOptions.DEFAULT.lease(Duration.ofSeconds(7)));
    assertEquals("plain", plain.name());
    GameQueueException error =
        assertThrows(
            GameQueueException.class,
            () -> queue.topic("plain", TopicOptions.DEFAULT.lease(Duration.ofSeconds(9))));
    assertTrue(
        error.getMessage().contains("7000") && error.getMessage().contains("9000"),
        error.getMessage());
  }

  @Test
  void aPayloadThatIsTooLargeIsRefusedBeforeAnythingIsWritten() {
    Topic<byte[]> small = queue.topic("small", TopicOptions.DEFAULT.payloadBytes(10));
    CommitReceipt receipt = small.publish("fits", new byte[10]);
    receipt.awaitQueued(LONG);
    GameQueueException error =
        assertThrows(GameQueueException.class, () -> small.publish("large", new byte[11]));
    assertTrue(error.getMessage().contains("takes 11 bytes"), error.getMessage());
    assertEquals(1, small.counts().pending());
  }

  @Test
  void aRateIsThatOfAllNodesTogether() throws Exception {
    Topic<Mail> topic = queue.topic("limited", Mail.class);
    topic.rate(0.001, "the mail server is slow");
    Inbox<Mail> inbox = new Inbox<>();
    try (GameQueue other = FIXTURE.node("n2", wals);
        Subscription here = topic.subscribe(inbox);
        Subscription there = other.topic("limited", Mail.class).subscribe(inbox)) {
      for (int i = 0; i < 5; i++) {
        topic.publish("mail:" + i, new Mail(i, "hello"));
      }
      inbox.next();
      await().atMost(LONG).until(() -> topic.counts().held() == 0);
      assertEquals(4, topic.counts().pending());
      topic.rate(0, "it is mended");
      assertEquals(4, inbox.keys(4).size());
      await().atMost(LONG).until(() -> here.counts().handled() + there.counts().handled() == 5);
    }
    assertThrows(GameQueueException.class, () -> topic.rate(-1, "wrong"));
  }
}
