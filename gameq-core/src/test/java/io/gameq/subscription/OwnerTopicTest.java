package io.gameq.subscription;

import static io.gameq.servers.Waits.LONG;
import static java.time.Duration.ofMillis;
import static java.time.Duration.ofSeconds;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.gameq.ChangeSet;
import io.gameq.GameQueue;
import io.gameq.GameQueueException;
import io.gameq.OwnerSession;
import io.gameq.owner.OwnerId;
import io.gameq.servers.TestServers;
import io.gameq.topic.Delivery;
import io.gameq.topic.Message.State;
import io.gameq.topic.OwnerHandler;
import io.gameq.topic.Publish;
import io.gameq.topic.Retry;
import io.gameq.topic.Subscription;
import io.gameq.topic.Topic;
import io.gameq.topic.TopicOptions;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Messages that belong to owners are handled where these are open. */
class OwnerTopicTest {
  private static final int SLOTS = 4;
  private static final TopicFixture FIXTURE = new TopicFixture();
  static final TopicOptions OPTIONS =
      TopicOptions.DEFAULT.ofOwners().retry(Retry.fixed(ofMillis(20)));

  @TempDir static Path wals;

  private static GameQueue one;
  private static GameQueue two;
  private static ExecutorService game;

  record Sale(long gold) {}

  record Purse(long playerId, long gold) {}

  @BeforeAll
  static void start() {
    one = FIXTURE.node("n1", wals);
    two = FIXTURE.node("n2", wals);
    game = Executors.newSingleThreadExecutor();
  }

  @AfterAll
  static void stop() {
    one.close();
    two.close();
    game.shutdown();
  }

  /** A player as a node has it in memory, whose sales are paid there. */
  private static final class Player implements OwnerHandler<Sale>, AutoCloseable {
    final OwnerSession session;
    final List<String> handled = new CopyOnWriteArrayList<>();
    private long gold;

    Player(GameQueue queue, long id) {
      session = queue.open("player:" + id);
      gold = session.rows(Purse.class).stream().mapToLong(Purse::gold).sum();
    }

    Player handles(Topic<Sale> sales) {
      session.handle(sales, game, this);
      return this;
    }

    @Override
    public void handle(OwnerSession owner, Delivery<Sale> sale, ChangeSet changes) {
      long after = gold + sale.payload().gold();
      changes.put(new Purse(id(owner), after));
      gold = after;
      handled.add(sale.key());
    }

    @Override
    public void close() {
      session.close();
    }
  }

  private static long id(OwnerSession owner) {
    return Long.parseLong(owner.owner().substring("player:".length()));
  }

  static Topic<Sale> topic(GameQueue queue, String name) {
    return queue.topic(name, Sale.class, OPTIONS);
  }

  static Publish<Sale> sale(String key, long player, long gold) {
    return Publish.of(key, new Sale(gold)).owner("player:" + player);
  }

  private static long gold(long player) {
    return one.read("player:" + player, Purse.class).stream().mapToLong(Purse::gold).sum();
  }

  /** Adds to the purse as it is in the owner's rows. */
  private static void pay(OwnerSession owner, Delivery<Sale> sale, ChangeSet changes) {
    long gold = owner.rows(Purse.class).stream().mapToLong(Purse::gold).sum();
    changes.put(new Purse(id(owner), gold + sale.payload().gold()));
  }

  @Test
  void isHandledByTheSessionWhicheverNodeHasIt() {
    Topic<Sale> sales = topic(one, "where-open");
    try (Player first = new Player(one, 1).handles(sales);
        Player second = new Player(two, 2).handles(topic(two, "where-open"))) {
      for (int i = 0; i < 20; i++) {
        sales.publish(sale("a" + i, 1, 1));
        sales.publish(sale("b" + i, 2, 10));
      }
      await().atMost(LONG).until(() -> gold(1) == 20 && gold(2) == 200);
      assertEquals(20, first.handled.size());
      assertEquals(20, second.handled.size());
    }
  }

  @Test
  void waitsUntilASessionHandlesItAndKeepsTheOrder() {
    Topic<Sale> sales = topic(one, "waits");
    try (Player other = new Player(one, 3).handles(sales)) {
      for (int i = 0; i < 5; i++) {
        sales.publish(sale("s" + i, 4, 1)).awaitQueued(LONG);
      }
      await().atMost(LONG).until(() -> sales.list(State.PENDING, null).messages().size() == 1);
      assertTrue(other.handled.isEmpty());
      try (Player player = new Player(two, 4).handles(topic(two, "waits"))) {
        await().atMost(LONG).until(() -> player.handled.size() == 5);
        assertEquals(List.of("s0", "s1", "s2", "s3", "s4"), player.handled);
      }
    }
    await().atMost(LONG).until(() -> gold(4) == 5);
  }

  @Test
  void followsTheOwnerFromNodeToNode() {
    Topic<Sale> sales = topic(one, "moves");
    Topic<Sale> there = topic(two, "moves");
    int published = 0;
    for (int round = 0; round < 6; round++) {
      try (Player player =
          round % 2 == 0 ? new Player(one, 5).handles(sales) : new Player(two, 5).handles(there)) {
        for (int i = 0; i < 10; i++) {
          sales.publish(sale("s" + ++published, 5, 1));
        }
        await().atMost(LONG).until(() -> !player.handled.isEmpty());
      }
    }
    try (Player last = new Player(two, 5).handles(there)) {
      await().atMost(LONG).until(() -> sales.counts().pending() + sales.counts().held() == 0);
      assertEquals(published, last.gold);
    }
    assertEquals(published, gold(5));
  }

  @Test
  void aSessionThatWasTakenOverHandlesNothingMore() {
    Topic<Sale> sales = topic(one, "lost");
    Player old = new Player(one, 6).handles(sales);
    try (Player player = new Player(two, 6).handles(topic(two, "lost"))) {
      for (int i = 0; i < 10; i++) {
        sales.publish(sale("s" + i, 6, 1));
      }
      await().atMost(LONG).until(() -> player.handled.size() == 10);
    }
    old.close();
    await().atMost(LONG).until(() -> gold(6) == 10);
  }

  @Test
  void ownersThatNobodyHasAreOpenedWhereThatIsWanted() {
    Topic<Sale> sales = topic(one, "opened");
    for (int player = 10; player < 20; player++) {
      sales.publish(sale("first", player, 3));
      sales.publish(sale("second", player, 4));
    }
    try (Player online = new Player(one, 20).handles(sales);
        Subscription unused = topic(two, "opened").subscribeOwners(OwnerTopicTest::pay)) {
      sales.publish(sale("first", 20, 7));
      await().atMost(LONG).until(() -> sales.counts().pending() + sales.counts().held() == 0);
      assertEquals(List.of("first"), online.handled);
    }
    for (int player = 10; player <= 20; player++) {
      assertEquals(7, gold(player), "player " + player);
    }
  }

  @Test
  void anOwnerThatIsOpenAndDoesNotHandleTheTopicIsLeftToItsNode() throws Exception {
    Topic<Sale> sales = topic(one, "left-alone");
    try (Player player = new Player(one, 21);
        Subscription opener = topic(two, "left-alone").subscribeOwners(OwnerTopicTest::pay)) {
      sales.publish(sale("s", 21, 5));
      await()
          .atMost(LONG)
          .until(() -> sales.get("player:21", "s").map(of -> of.error() != null).orElse(false));
      assertFalse(player.session.lost().toCompletableFuture().isDone());
      player.handles(sales);
      await().atMost(LONG).until(() -> player.handled.size() == 1);
    }
    assertEquals(5, gold(21));
  }

  @Test
  void anOwnerThatRedisTakesForHandledHereIsLeftToOthersAndKeepsItsOrder() {
    Topic<Sale> sales = topic(one, "forgotten");
    List<String> handled = new CopyOnWriteArrayList<>();
    new Player(one, 27).handles(sales).close();
    try (var admin = TestServers.redis()) {
      String of =
          "{%s:%d}:t:forgotten:"
              .formatted(FIXTURE.namespace(), OwnerId.of("player:27").slot(SLOTS));
      await().atMost(LONG).until(() -> admin.sync().hlen(of + "alive") == 1);
      await().atMost(LONG).until(() -> admin.sync().exists(of + "handlers") == 0);
      String process = admin.sync().hkeys(of + "alive").get(0);
      String owner = OwnerId.of("player:27").encoded();
      admin.sync().hset(of + "handlers", owner, "0000000000000001 " + process);
    }
    List<Publish<Sale>> some = new ArrayList<>();
    for (int i = 0; i < 5; i++) {
      some.add(sale("s" + i, 27, 1));
    }
    sales.publish(some);
    try (Subscription unused =
        topic(two, "forgotten")
            .subscribeOwners(
                (owner, sale, changes) -> {
                  pay(owner, sale, changes);
                  handled.add(sale.key());
                })) {
      await().atMost(LONG).until(() -> sales.counts().pending() + sales.counts().held() == 0);
    }
    assertEquals(List.of("s0", "s1", "s2", "s3", "s4"), handled);
    assertEquals(5, gold(27));
  }

  @Test
  void aSessionThatARefusedCommitEndedLeavesItsMessagesToOthers() {
    Topic<Sale> sales = topic(one, "ended");
    AtomicInteger calls = new AtomicInteger();
    ExecutorService own = Executors.newSingleThreadExecutor();
    try (var admin = TestServers.redis();
        OwnerSession session = one.open("player:28");
        Subscription unused = topic(two, "ended").subscribeOwners(OwnerTopicTest::pay)) {
      OwnerId owner = OwnerId.of("player:28");
      String of = "{%s:%d}:t:ended:".formatted(FIXTURE.namespace(), owner.slot(SLOTS));
      session.handle(
          sales,
          own,
          (player, sale, changes) -> {
            calls.incrementAndGet();
            changes.put(new Purse(28, 1_000_000));
            admin.sync().zadd(of + "lease", 1, owner.encoded() + ":");
            await().atMost(LONG).until(() -> error(sales, "player:28").contains("still runs"));
          });
      await().atMost(LONG).until(() -> admin.sync().exists(of + "handlers") == 1);
      sales.publish(sale("s", 28, 6));
      await().atMost(LONG).until(() -> error(sales, "player:28").contains("OwnerHeld"));
      await().atMost(LONG).until(() -> session.lost().toCompletableFuture().isDone());
      session.close();
      await().atMost(LONG).until(() -> gold(28) == 6);
    } finally {
      own.shutdown();
    }
    assertEquals(1, calls.get());
  }

  /** Why a message waits; empty when it does not. */
  private static String error(Topic<Sale> sales, String owner) {
    return sales.get(owner, "s").map(of -> String.valueOf(of.error())).orElse("");
  }

  @Test
  void whatAHandlerThrewAtLeavesNothingAndIsTriedAgain() {
    Topic<Sale> sales = topic(one, "throws");
    AtomicInteger attempts = new AtomicInteger();
    try (OwnerSession session = one.open("player:22")) {
      session.handle(
          sales,
          game,
          (owner, sale, changes) -> {
            changes.put(new Purse(22, 1_000_000));
            if (attempts.incrementAndGet() < 3) {
              throw new Exception("not now");
            }
            changes.put(new Purse(22, sale.payload().gold()));
          });
      sales.publish(sale("s", 22, 8));
      await().atMost(LONG).until(() -> attempts.get() == 3 && gold(22) == 8);
    }
  }

  @Test
  void aHandlerThatCallsFailLeavesNothing() {
    Topic<Sale> sales = topic(one, "fails");
    AtomicInteger attempts = new AtomicInteger();
    try (OwnerSession session = one.open("player:23")) {
      session.handle(
          sales,
          game,
          (owner, sale, changes) -> {
            changes.put(new Purse(23, attempts.incrementAndGet()));
            if (attempts.get() == 1) {
              sale.fail("once more");
            }
          });
      sales.publish(sale("s", 23, 8));
      await().atMost(LONG).until(() -> gold(23) == 2);
      assertEquals(2, attempts.get());
    }
  }

  @Test
  void oneOwnersStalledHandlerHoldsUpNobodyElse() throws Exception {
    Topic<Sale> sales = topic(one, "stalled");
    CountDownLatch stalled = new CountDownLatch(1);
    ExecutorService own = Executors.newSingleThreadExecutor();
    try (Player player = new Player(one, 24).handles(sales);
        OwnerSession slow = one.open("player:25")) {
      slow.handle(
          sales,
          own,
          (owner, sale, changes) -> {
            stalled.await();
            pay(owner, sale, changes);
          });
      for (int i = 0; i < 20; i++) {
        sales.publish(sale("s" + i, 25, 1));
        sales.publish(sale("s" + i, 24, 1));
      }
      await().atMost(LONG).until(() -> player.handled.size() == 20);
      stalled.countDown();
      await().atMost(LONG).until(() -> sales.counts().pending() + sales.counts().held() == 0);
    } finally {
      own.shutdown();
    }
  }

  @Test
  void anExecutorThatRefusesIsAskedAgain() {
    Topic<Sale> sales = topic(one, "refused");
    AtomicInteger asked = new AtomicInteger();
    Executor refusesOnce =
        task -> {
          if (asked.getAndIncrement() == 0) {
            throw new RejectedExecutionException("full");
          }
          game.execute(task);
        };
    try (OwnerSession session = one.open("player:26")) {
      session.handle(sales, refusesOnce, OwnerTopicTest::pay);
      sales.publish(sale("s", 26, 9));
      await().atMost(LONG).until(() -> gold(26) == 9);
    }
  }

  @Test
  void oneMessageOfAnOwnerIsHandledAtATime() {
    Topic<Sale> sales = topic(one, "serial");
    Map<String, AtomicInteger> running = new ConcurrentHashMap<>();
    AtomicInteger most = new AtomicInteger();
    ExecutorService many = Executors.newFixedThreadPool(4);
    List<OwnerSession> open = new ArrayList<>();
    try {
      for (int player = 30; player < 34; player++) {
        OwnerSession session = (player % 2 == 0 ? one : two).open("player:" + player);
        open.add(session);
        AtomicInteger total = new AtomicInteger();
        session.handle(
            player % 2 == 0 ? sales : topic(two, "serial"),
            many,
            (owner, sale, changes) -> {
              AtomicInteger of =
                  running.computeIfAbsent(owner.owner(), name -> new AtomicInteger());
              most.accumulateAndGet(of.incrementAndGet(), Math::max);
              Thread.onSpinWait();
              changes.put(new Purse(id(owner), total.incrementAndGet()));
              of.decrementAndGet();
            });
      }
      for (int i = 0; i < 50; i++) {
        for (int player = 30; player < 34; player++) {
          sales.publish(sale("s" + i, player, 1));
        }
      }
      await().atMost(LONG).until(() -> gold(30) + gold(31) + gold(32) + gold(33) == 200);
      assertEquals(1, most.get());
    } finally {
      open.forEach(OwnerSession::close);
      many.shutdown();
    }
  }

  @Test
  void whoHandlesIsToldAgainWhenRedisForgotIt() {
    Topic<Sale> sales = topic(one, "forgotten");
    try (Player player = new Player(one, 41).handles(sales)) {
      sales.publish(sale("before", 41, 1));
      await().atMost(LONG).until(() -> player.handled.size() == 1);
      try (var redis = TestServers.redis()) {
        for (int slot = 0; slot < 4; slot++) {
          String of = "{" + FIXTURE.namespace() + ":" + slot + "}:t:forgotten:";
          redis.sync().del(of + "handlers", of + "alive");
        }
      }
      sales.publish(sale("after", 41, 1));
      await().atMost(LONG).until(() -> player.handled.size() == 2);
    }
  }

  @Test
  void whatIsLeftOfADeletedMessageIsNothing() {
    Topic<Sale> sales = topic(one, "deleted");
    try (Player other = new Player(one, 42).handles(sales)) {
      sales.publish(sale("s", 43, 1));
      await().atMost(LONG).until(() -> keys("deleted", "unhandled") == 1);
      sales.delete("player:43", "s").awaitQueued(LONG);
      assertEquals(0, keys("deleted", "unhandled") + keys("deleted", "due"));
      assertTrue(other.handled.isEmpty());
    }
  }

  private static long keys(String topic, String kind) {
    try (var redis = TestServers.redis()) {
      return redis.sync().keys("{" + FIXTURE.namespace() + ":*}:t:" + topic + ":" + kind).size();
    }
  }

  @Test
  void whatDoesNotFitIsRefusedByName() {
    Topic<Sale> owners = topic(one, "fits");
    Topic<Sale> others = one.topic("fits-not", Sale.class);
    assertRefused("Publish.owner", () -> owners.publish("key", new Sale(1)));
    assertRefused("not 'kind:key'", () -> owners.publish(Publish.of("k", new Sale(1)).owner("42")));
    assertRefused("OwnerSession.handle", () -> owners.subscribe(sale -> {}));
    assertRefused("OwnerSession.handle", owners::claims);
    assertRefused("ofOwners", () -> others.subscribeOwners((owner, sale, changes) -> {}));
    assertRefused("no priorities", () -> TopicOptions.DEFAULT.priorities(ofSeconds(1)).ofOwners());
    OwnerSession session = one.open("player:40");
    assertRefused("ofOwners", () -> session.handle(others, game, (owner, sale, changes) -> {}));
    session.close();
    assertRefused("is closed", () -> session.handle(owners, game, (owner, sale, changes) -> {}));
  }

  private static void assertRefused(String says, org.junit.jupiter.api.function.Executable call) {
    GameQueueException e = assertThrows(GameQueueException.class, call);
    assertTrue(e.getMessage().contains(says), e.getMessage());
  }
}
