package io.gameq.subscription;

import static io.gameq.servers.Waits.LONG;
import static java.nio.charset.StandardCharsets.US_ASCII;
import static java.time.Duration.ofMillis;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.gameq.CallTimeoutException;
import io.gameq.CommitPendingException;
import io.gameq.CommitReceipt;
import io.gameq.GameQueue;
import io.gameq.GameQueueException;
import io.gameq.MySqlException;
import io.gameq.MySqlUnavailableException;
import io.gameq.OwnerSession;
import io.gameq.Pressure;
import io.gameq.PushBackException;
import io.gameq.QueueFullException;
import io.gameq.RedisFullException;
import io.gameq.RedisUnavailableException;
import io.gameq.RollbackRequiredException;
import io.gameq.RowRefusedException;
import io.gameq.WalFullException;
import io.gameq.config.PushBack;
import io.gameq.config.WhenRedisIsFull;
import io.gameq.lab.servers.EmbeddedRedis;
import io.gameq.redis.RedisConnection;
import io.gameq.redis.RedisConnector;
import io.gameq.redis.RedisConnector.RedisConfig;
import io.gameq.servers.TestServers;
import io.gameq.subscription.TopicFixture.Inbox;
import io.gameq.topic.ClaimLostException;
import io.gameq.topic.Delivery;
import io.gameq.topic.Message;
import io.gameq.topic.Publish;
import io.gameq.topic.SubscribeOptions;
import io.gameq.topic.Subscription;
import io.gameq.topic.Topic;
import io.gameq.topic.TopicAdmin;
import io.gameq.topic.TopicOptions;
import io.lettuce.core.KillArgs;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Handlers that stall, fail and close, and how soon they are called. */
class SubscriptionTest {
  private static final TopicFixture FIXTURE = new TopicFixture();

  @TempDir static Path wals;

  private static GameQueue queue;

  record Text(String text) {}

  record Purse(long playerId, long gold) {}

  @BeforeAll
  static void start() {
    queue = FIXTURE.node("n1", wals);
  }

  @AfterAll
  static void stop() {
    queue.close();
  }

  private static boolean waitFor(CountDownLatch latch) throws InterruptedException {
    return latch.await(LONG.toMillis(), TimeUnit.MILLISECONDS);
  }

  @Test
  void anIdleConsumerIsWokenWhenAMessageFallsDue() throws Exception {
    Topic<Text> topic = queue.topic("wake", Text.class);
    BlockingQueue<Long> late = new LinkedBlockingQueue<>();
    topic.subscribe(
        delivery -> late.add(Duration.between(delivery.due(), Instant.now()).toMillis()));
    List<Long> all = new ArrayList<>();
    for (int i = 0; i < 21; i++) {
      topic.publish(Publish.of("k" + i, new Text("x")).after(ofMillis(i % 3 == 0 ? 0 : 10 + i)));
      all.add(late.take());
    }
    all.sort(null);
    // 1 to 2 ms on a machine of its own; a poll every second would be 500.
    assertTrue(all.get(10) < 50, "lateness in ms: " + all);
  }

  /**
   * The obvious code: what a handler changes, publishes and sends goes with its acknowledgement.
   */
  @Test
  void whatAHandlerStagesIsCommittedWithItsAcknowledgementOrNotAtAll() throws Exception {
    Topic<Text> topic =
        queue.topic("staged", Text.class, TopicOptions.DEFAULT.lease(ofMillis(200)));
    Topic<Text> next = queue.topic("staged-next", Text.class);
    CountDownLatch successor = new CountDownLatch(1);
    BlockingQueue<CommitReceipt> stalled = new LinkedBlockingQueue<>();
    topic.subscribe(
        delivery -> {
          boolean isFirst = delivery.attempt() == 1;
          if (isFirst) {
            waitFor(successor); // far beyond its lease
          }
          CommitReceipt receipt =
              delivery.ackWith(
                  tx -> {
                    tx.publish(next, delivery.attempt() + ". attempt", delivery.payload());
                    tx.send("player:3" + (1 + delivery.attempt()), purse(delivery));
                  });
          stalled.add(receipt);
          if (!isFirst) {
            receipt.awaitQueued(LONG);
            successor.countDown();
          }
        });
    topic.publish("k", new Text("x"));
    stalled.take().awaitQueued(LONG); // of the second
    CommitReceipt late = stalled.take();
    assertThrows(ClaimLostException.class, () -> late.awaitQueued(LONG));
    BlockingQueue<String> published = new LinkedBlockingQueue<>();
    next.subscribe(delivery -> published.add(delivery.key()));
    assertEquals("2. attempt", published.take());
    assertEquals(List.of(), queue.read("player:32", Purse.class), "of the first");
    assertEquals(List.of(new Purse(33, 2)), queue.read("player:33", Purse.class));
    assertEquals(List.of(), published.stream().toList());
  }

  private static Purse purse(Delivery<Text> delivery) {
    return new Purse(31 + delivery.attempt(), delivery.attempt());
  }

  @Test
  void aRowIsStagedInASessionThatIsGiven() throws Exception {
    Topic<Text> topic = queue.topic("given", Text.class);
    BlockingQueue<String> refused = new LinkedBlockingQueue<>();
    try (OwnerSession player = queue.open("player:41")) {
      Subscription subscription =
          topic.subscribe(
              delivery -> {
                try {
                  delivery.ackWith(tx -> tx.put(new Purse(41, 7)));
                } catch (RowRefusedException e) {
                  refused.add(e.getMessage()); // nothing was taken: once more
                }
                delivery.ackWith(tx -> tx.put(new Purse(41, 7)), player).awaitQueued(LONG);
              });
      topic.publish("k", new Text("x"));
      String why = refused.take();
      assertTrue(why.contains("the change set is of no owner"), why);
      await().atMost(LONG).until(() -> subscription.counts().handled() == 1);
      assertEquals(List.of(new Purse(41, 7)), queue.read("player:41", Purse.class));
    }
  }

  @Test
  void aLeaseThatRanOutGoesToASuccessorAndTheOldAcknowledgementChangesNothing() throws Exception {
    Topic<Text> topic =
        queue.topic("stalled", Text.class, TopicOptions.DEFAULT.lease(ofMillis(200)));
    CountDownLatch successor = new CountDownLatch(1);
    BlockingQueue<CommitReceipt> stalled = new LinkedBlockingQueue<>();
    List<Long> fences = new CopyOnWriteArrayList<>();
    try (OwnerSession first = queue.open("player:1");
        OwnerSession second = queue.open("player:2")) {
      Subscription subscription =
          topic.subscribe(
              delivery -> {
                fences.add(delivery.fence());
                if (delivery.attempt() == 1) {
                  waitFor(successor); // far beyond its lease
                  first.put(new Purse(1, 1));
                  stalled.add(delivery.ackWith(first));
                } else {
                  second.put(new Purse(2, 2));
                  delivery.ackWith(second).awaitQueued(LONG);
                  successor.countDown();
                }
              });
      topic.publish("k", new Text("x"));
      CommitReceipt late = stalled.take();
      GameQueueException error =
          assertThrows(GameQueueException.class, () -> late.awaitQueued(LONG));
      assertInstanceOf(ClaimLostException.class, error, error.getMessage());
      assertEquals(List.of(), queue.read("player:1", Purse.class), "its rows were not applied");
      assertEquals(List.of(new Purse(2, 2)), queue.read("player:2", Purse.class));
      assertTrue(fences.get(1) > fences.get(0), "fences rise: " + fences);
      await().atMost(LONG).until(() -> subscription.counts().lost() == 1);
      assertEquals(1, subscription.counts().handled());
    }
  }

  @Test
  void anExtendedLeaseStaysWithItsHandler() throws Exception {
    Topic<Text> topic =
        queue.topic("extended", Text.class, TopicOptions.DEFAULT.lease(ofMillis(300)));
    Inbox<Text> inbox = new Inbox<>();
    Subscription subscription =
        topic.subscribe(
            delivery -> {
              delivery.extend(Duration.ofMinutes(5));
              assertTrue(delivery.remaining().toMinutes() >= 4);
              await()
                  .atMost(LONG)
                  .until(() -> Duration.between(delivery.due(), Instant.now()).toMillis() > 700);
              inbox.handle(delivery);
            });
    topic.publish("k", new Text("x"));
    assertEquals(1, inbox.next().attempt());
    await().atMost(LONG).until(() -> subscription.counts().handled() == 1);
    assertEquals(0, subscription.counts().lost());
  }

  @Test
  void whatArrivesWhileItsKeyIsHandledIsHandledAfterwards() throws Exception {
    Topic<Text> topic = queue.topic("meanwhile", Text.class);
    CountDownLatch began = new CountDownLatch(1);
    CountDownLatch goOn = new CountDownLatch(1);
    AtomicBoolean isRunning = new AtomicBoolean();
    Inbox<Text> inbox = new Inbox<>();
    topic.subscribe(
        delivery -> {
          if (!isRunning.compareAndSet(false, true)) {
            throw new AssertionError("two at a time");
          }
          began.countDown();
          waitFor(goOn);
          isRunning.set(false);
          inbox.handle(delivery);
        });
    topic.publish("k", new Text("first"));
    assertTrue(waitFor(began));
    topic.publish("k", new Text("second"));
    topic.publish("k", new Text("third")).awaitQueued(LONG);
    assertEquals(1, topic.list(Message.State.HELD).messages().size());
    goOn.countDown();
    assertEquals(new Text("first"), inbox.next().payload());
    assertEquals(new Text("third"), inbox.next().payload());
    await().atMost(LONG).until(() -> topic.counts().equals(new TopicAdmin.Counts(0, 0, 0, 0)));
  }

  @Test
  void closeWaitsForWhatIsHeldAndInterruptsWhenTheTimeIsUp() throws Exception {
    Topic<Text> topic =
        queue.topic("closing", Text.class, TopicOptions.DEFAULT.lease(ofMillis(500)));
    CountDownLatch began = new CountDownLatch(1);
    CountDownLatch goOn = new CountDownLatch(1);
    Subscription polite =
        topic.subscribe(
            delivery -> {
              began.countDown();
              waitFor(goOn);
            });
    topic.publish("k", new Text("x"));
    assertTrue(waitFor(began));
    goOn.countDown();
    assertTrue(polite.close(LONG));
    assertEquals(1, polite.counts().handled());
    topic.publish("after", new Text("nobody takes it")).awaitQueued(LONG);
    assertEquals(1, topic.counts().pending());

    CountDownLatch interrupted = new CountDownLatch(1);
    CountDownLatch beganAgain = new CountDownLatch(1);
    Subscription stubborn =
        topic.subscribe(
            delivery -> {
              beganAgain.countDown();
              try {
                waitFor(interrupted);
              } finally {
                interrupted.countDown();
              }
            });
    assertTrue(waitFor(beganAgain));
    assertFalse(stubborn.close(ofMillis(1)));
    assertTrue(waitFor(interrupted));
    Inbox<Text> inbox = new Inbox<>();
    topic.subscribe(inbox);
    assertEquals(2, inbox.next().attempt(), "it is another's when its lease has run out");
  }

  @Test
  void pausedOnANodeOrEverywhereNothingIsTaken() throws Exception {
    Topic<Text> topic = queue.topic("pausing", Text.class);
    Inbox<Text> inbox = new Inbox<>();
    Subscription subscription = topic.subscribe(inbox);
    subscription.pause();
    topic.publish("k", new Text("x")).awaitQueued(LONG);
    await().pollDelay(ofMillis(60)).until(() -> true);
    assertTrue(inbox.isEmpty());
    topic.pause("a test");
    subscription.resume();
    await().pollDelay(ofMillis(1_200)).until(() -> true); // by then the pause is known
    topic.publish("l", new Text("y")).awaitQueued(LONG);
    int taken = (int) subscription.counts().handled();
    await().pollDelay(ofMillis(60)).until(() -> true);
    assertEquals(taken, subscription.counts().handled());
    topic.resume();
    inbox.keys(2);
  }

  /** Redis' clock went back by an hour, or the replica that took over has another one. */
  @Test
  void aRecurringMessageKeepsItsRhythmWhileTheFenceIsAheadOfTheClock() throws Exception {
    for (Publish.Missed missed : Publish.Missed.values()) {
      String name = "fence-" + missed.name().toLowerCase(Locale.ROOT);
      Topic<Text> topic = queue.topic(name, Text.class, TopicOptions.DEFAULT.slots(1));
      try (var redis = TestServers.redis()) {
        long ahead = Instant.now().plus(Duration.ofHours(1)).toEpochMilli();
        redis.sync().set("{" + FIXTURE.namespace() + ":0}:t:" + name + ":fence", ahead + " 7");
      }
      Inbox<Text> inbox = new Inbox<>();
      Subscription subscription = topic.subscribe(inbox);
      topic.publish(Publish.of("tick", new Text("x")).every(ofMillis(300)).count(4).missed(missed));
      List<Long> fences = new ArrayList<>();
      for (int i = 0; i < 3; i++) {
        fences.add(inbox.next().fence());
      }
      assertEquals(fences.stream().sorted().distinct().toList(), fences, "fences rise");
      subscription.close(LONG);
    }
  }

  /** As the takes and acknowledgements of an hour ahead leave it when the clock is right again. */
  private static void goBack(String topic, String key) {
    try (RedisConnector connector = new RedisConnector(new RedisConfig(TestServers.redisUri()));
        RedisConnection redis = connector.open()) {
      String of = "{" + FIXTURE.namespace() + ":0}:t:" + topic + ":";
      byte[] pending = (of + "msg").getBytes(US_ASCII);
      byte[] id = key.getBytes(US_ASCII);
      long aheadMillis = 3_600_000;
      byte[] value = redis.sync().hget(pending, id);
      ByteBuffer since = ByteBuffer.wrap(value, 16, 8);
      double occurrence = since.getDouble() + aheadMillis;
      ByteBuffer.wrap(value, 16, 8).putDouble(occurrence);
      long taken = Instant.now().toEpochMilli() + aheadMillis;
      redis.sync().set((of + "fence").getBytes(US_ASCII), (taken + " 7").getBytes(US_ASCII));
      redis.sync().hset(pending, id, value);
      redis.sync().zadd((of + "due").getBytes(US_ASCII), occurrence, id);
    }
  }

  @Test
  void whatRecursGoesOnWhenRedisClockWasAheadAndIsRightAgain() throws Exception {
    Topic<Text> topic = queue.topic("back", Text.class, TopicOptions.DEFAULT.slots(1));
    Inbox<Text> inbox = new Inbox<>();
    topic.publish(Publish.of("tick", new Text("x")).every(ofMillis(300))).awaitQueued(LONG);
    topic
        .publish(Publish.of("cron", new Text("x")).cron("* * * * *", ZoneOffset.UTC))
        .awaitQueued(LONG);
    goBack("back", "tick");
    goBack("back", "cron");
    Subscription subscription = topic.subscribe(inbox);
    long before = Instant.now().toEpochMilli();
    for (int i = 0; i < 5; i++) {
      Delivery<Text> next = inbox.next();
      assertTrue(
          next.key().equals("tick") || next.since().toEpochMilli() % 60_000 == 0,
          "cron runs at full minutes, not at " + next.since());
      assertTrue(next.since().toEpochMilli() < before + 120_000, "since " + next.since());
    }
    await()
        .atMost(LONG)
        .until(
            () ->
                topic.get("cron").stream()
                    .anyMatch(of -> of.due().toEpochMilli() < before + 180_000));
    subscription.close(LONG);
    topic.delete("tick").awaitQueued(LONG);
    topic.delete("cron").awaitQueued(LONG);
  }

  @Test
  void aPayloadThatNoNodeCanReadBecomesADeadLetterAndNothingElseStops() throws Exception {
    Topic<byte[]> bytes = queue.topic("mixed", TopicOptions.DEFAULT.retry(once()));
    Topic<Text> texts = queue.topic("mixed", Text.class, TopicOptions.DEFAULT.retry(once()));
    Inbox<Text> inbox = new Inbox<>();
    texts.subscribe(inbox, SubscribeOptions.DEFAULT.batch(10));
    bytes.publish("damaged", new byte[] {(byte) 0xc1});
    texts.publish("whole", new Text("x"));
    assertEquals("whole", inbox.next().key());
    await().atMost(LONG).until(() -> texts.counts().dead() == 1);
    Message<Text> dead = texts.list(Message.State.DEAD).messages().get(0);
    assertTrue(String.valueOf(dead.error()).contains("cannot be read"), dead.toString());
    assertTrue(texts.retryDead(dead, new Text("mended")));
    assertEquals(new Text("mended"), inbox.next().payload());
  }

  @Test
  void anOutageBurnsNoAttemptThoughItsExceptionIsTheCauseOfTheHandlersOwn() throws Exception {
    Pressure pressure = new Pressure(Pressure.Of.ROWS, PushBack.REFUSE, 2, 1, true);
    List<RuntimeException> outages =
        List.of(
            new MySqlUnavailableException("away"),
            new MySqlException("others lock the owner"),
            new CallTimeoutException("slow"),
            new RedisUnavailableException("away"),
            new RedisFullException("full"),
            new WalFullException("full"),
            new QueueFullException("full"),
            new PushBackException(pressure, "full"),
            new CommitPendingException("not yet"),
            new CompletionException(new MySqlUnavailableException("away")),
            new IllegalStateException(
                "no gold", new RuntimeException(new QueueFullException("x"))));
    Topic<Text> topic = queue.topic("outage", Text.class, TopicOptions.DEFAULT.retry(once()));
    Iterator<RuntimeException> next = outages.iterator();
    Inbox<Text> inbox = new Inbox<>();
    Subscription subscription =
        topic.subscribe(
            delivery -> {
              if (next.hasNext()) {
                throw next.next();
              }
              inbox.handle(delivery);
            });
    topic.publish("k", new Text("x"));
    await().atMost(LONG).until(() -> !inbox.isEmpty() || topic.counts().dead() > 0);
    assertEquals(0, topic.counts().dead(), () -> "after " + subscription.counts());
    assertEquals(1, inbox.next().attempt());
    assertEquals(outages.size(), subscription.counts().failed());
  }

  @Test
  void ofABatchOnlyTheMessagesThatNoOutageFailedDie() throws Exception {
    Topic<Text> topic = queue.topic("batch", Text.class, TopicOptions.DEFAULT.retry(once()));
    AtomicBoolean isAway = new AtomicBoolean(true);
    Inbox<Text> inbox = new Inbox<>();
    topic.publish("away", new Text("x")).awaitQueued(LONG);
    topic.publish("broken", new Text("x")).awaitQueued(LONG);
    topic.subscribeBatch(
        deliveries -> {
          for (Delivery<Text> delivery : deliveries) {
            if (delivery.key().equals("broken")) {
              delivery.fail(new IllegalStateException("no such player"));
            } else if (isAway.getAndSet(false)) {
              delivery.fail(new CompletionException(new RedisUnavailableException("away")));
            } else {
              inbox.handle(delivery);
            }
          }
        },
        SubscribeOptions.DEFAULT.batch(10));
    Delivery<Text> again = inbox.next();
    assertEquals("away", again.key());
    assertEquals(1, again.attempt());
    await().atMost(LONG).until(() -> topic.counts().dead() == 1);
  }

  @Test
  void aNodeHealsAtAFullRedisAndItsAcknowledgementsGoOn() throws Exception {
    TopicFixture apart = new TopicFixture();
    try (EmbeddedRedis server = EmbeddedRedis.start();
        RedisConnector connector = new RedisConnector(new RedisConfig(server.uri()));
        RedisConnection redis = connector.open();
        GameQueue full =
            GameQueue.open(
                apart
                    .config("full", wals)
                    .redis(server.uri())
                    .whenRedisIsFull(WhenRedisIsFull.WAIT)
                    .build())) {
      Topic<Text> topic = full.topic("full", Text.class);
      for (int i = 0; i < 50; i++) {
        topic.publish("k" + i, new Text("x")).awaitQueued(LONG);
      }
      redis.sync().configSet("maxmemory", "1");
      CommitReceipt held = topic.publish("held", new Text("x"));
      CountDownLatch first = new CountDownLatch(10);
      Subscription subscription =
          topic.subscribe(
              delivery -> {
                if (first.getCount() == 1) {
                  killOthers(redis);
                }
                first.countDown();
              });
      TopicAdmin.Counts none = new TopicAdmin.Counts(0, 0, 0, 0);
      await().atMost(LONG).until(() -> topic.counts().equals(none));
      killOthers(redis); // what is held is older than what was acknowledged
      await().atMost(LONG).until(() -> youngestSeconds(redis) >= 3); // heals once
      assertFalse(held.queued().isDone());
      redis.sync().configSet("maxmemory", "0");
      held.awaitQueued(LONG);
      await() // more when a lease ran out meanwhile
          .atMost(LONG)
          .until(() -> topic.counts().equals(none) && subscription.counts().handled() >= 51);
    }
  }

  private static int youngestSeconds(RedisConnection redis) {
    Matcher age = Pattern.compile(" age=(\\d+)").matcher(redis.sync().clientList());
    return age.results().mapToInt(of -> Integer.parseInt(of.group(1))).min().orElseThrow();
  }

  private static void killOthers(RedisConnection redis) {
    long own = redis.id();
    for (String client : redis.sync().clientList().strip().split("\n", -1)) {
      long id = Long.parseLong(client.substring(3, client.indexOf(' ')));
      if (id != own) {
        long unused = redis.sync().clientKill(KillArgs.Builder.id(id));
      }
    }
  }

  @Test
  void anAcknowledgementWithRowsThatAFullRedisRefusesBurnsNoAttempt() throws Exception {
    TopicFixture apart = new TopicFixture();
    try (EmbeddedRedis server = EmbeddedRedis.start();
        RedisConnector connector = new RedisConnector(new RedisConfig(server.uri()));
        RedisConnection redis = connector.open();
        GameQueue full = GameQueue.open(apart.config("full", wals).redis(server.uri()).build())) {
      Topic<Text> topic = full.topic("full", Text.class, TopicOptions.DEFAULT.retry(once()));
      topic.publish("k", new Text("x")).awaitQueued(LONG);
      redis.sync().configSet("maxmemory", "1");
      Subscription subscription =
          topic.subscribe(
              delivery -> {
                OwnerSession player = full.open("player:1"); // refused, it takes nothing more
                player.put(new Purse(1, 7));
                delivery.ackWith(player);
              });
      await()
          .atMost(LONG)
          .until(() -> subscription.counts().failed() >= 3 || topic.counts().dead() > 0);
      assertEquals(0, topic.counts().dead());
      redis.sync().configSet("maxmemory", "0");
      await().atMost(LONG).until(() -> subscription.counts().handled() == 1);
      assertEquals(List.of(new Purse(1, 7)), full.read("player:1", Purse.class));
    }
  }

  @Test
  void whatTheGameCausesItselfCountsThoughAnOutageStandsFurtherDown() throws Exception {
    Topic<Text> topic = queue.topic("own-fault", Text.class, TopicOptions.DEFAULT.retry(once()));
    topic.subscribe(
        delivery -> {
          throw new RollbackRequiredException("half", new MySqlUnavailableException("away"));
        });
    topic.publish("k", new Text("x"));
    await().atMost(LONG).until(() -> topic.counts().dead() == 1);
  }

  private static io.gameq.topic.Retry once() {
    return io.gameq.topic.Retry.fixed(ofMillis(1)).attempts(1);
  }
}
