package io.gameq.subscription;

import static io.gameq.servers.Waits.LONG;
import static io.gameq.subscription.OwnerTopicTest.OPTIONS;
import static io.gameq.subscription.OwnerTopicTest.topic;
import static java.time.Duration.ofMillis;
import static java.time.Duration.ofSeconds;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.gameq.ClosedException;
import io.gameq.GameQueue;
import io.gameq.OwnerSession;
import io.gameq.owner.OwnerId;
import io.gameq.servers.TestServers;
import io.gameq.subscription.OwnerTopicTest.Purse;
import io.gameq.subscription.OwnerTopicTest.Sale;
import io.gameq.topic.OwnerHandler;
import io.gameq.topic.Publish;
import io.gameq.topic.Subscription;
import io.gameq.topic.Topic;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What games, executors and sessions that come late do to topics of owners. */
class OwnerFaultsTest {
  private static final TopicFixture FIXTURE = new TopicFixture();

  @TempDir static Path wals;

  private static GameQueue one;
  private static GameQueue two;
  private static ExecutorService game;

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
    game.shutdownNow();
  }

  private static Publish<Sale> sale(String key, long player) {
    return OwnerTopicTest.sale(key, player, 1);
  }

  private static OwnerHandler<Sale> keeping(List<String> handled) {
    return (owner, sale, changes) -> handled.add(sale.key());
  }

  private static boolean isEmpty(Topic<Sale> topic) {
    return topic.counts().pending() + topic.counts().held() == 0;
  }

  @Test
  void aSessionBeforeThatHandlesLateTakesNothingFromTheNewer() {
    Topic<Sale> sales = topic(one, "late");
    List<String> handled = new CopyOnWriteArrayList<>();
    OwnerSession old = one.open("player:1");
    try (OwnerSession newer = one.open("player:1")) {
      newer.handle(sales, game, keeping(handled));
      try {
        old.handle(sales, game, keeping(new ArrayList<>()));
      } catch (ClosedException e) {
        // it may be told
      }
      sales.publish(sale("s", 1));
      await().atMost(LONG).until(() -> handled.contains("s"));
    } finally {
      old.close();
    }
  }

  @Test
  void anExecutorThatThrowsAnythingIsAskedAgain() {
    Topic<Sale> sales = topic(one, "throws");
    List<String> handled = new CopyOnWriteArrayList<>();
    AtomicInteger asked = new AtomicInteger();
    Executor broken =
        task -> {
          if (asked.getAndIncrement() == 0) {
            throw new IllegalStateException("not started");
          }
          game.execute(task);
        };
    try (OwnerSession session = one.open("player:2")) {
      session.handle(sales, broken, keeping(handled));
      sales.publish(sale("s", 2));
      await().atMost(ofSeconds(20)).until(() -> handled.contains("s"));
    }
  }

  @Test
  void whatExecutorsDroppedTakesNoRoom() {
    Topic<Sale> sales = topic(one, "dropped");
    List<String> handled = new CopyOnWriteArrayList<>();
    AtomicInteger dropped = new AtomicInteger();
    for (int i = 0; i < 20; i++) {
      List<OwnerSession> sessions = new ArrayList<>();
      for (int player = 0; player < 50; player++) {
        OwnerSession session = one.open("player:" + (1_000 + 50 * i + player));
        session.handle(sales, task -> dropped.incrementAndGet(), keeping(new ArrayList<>()));
        sales.publish(sale("s", 1_000 + 50 * i + player));
        sessions.add(session);
      }
      int all = 50 * (i + 1);
      await().atMost(LONG).until(() -> dropped.get() == all);
      sessions.forEach(OwnerSession::close);
    }
    try (OwnerSession session = one.open("player:3")) {
      session.handle(sales, game, keeping(handled));
      sales.publish(sale("s", 3));
      await().atMost(LONG).until(() -> handled.contains("s"));
    }
  }

  @Test
  void anOwnersExecutorThatDroppedATaskIsAskedAgainOnceTheLeaseIsOver() {
    Topic<Sale> sales = one.topic("again", Sale.class, OPTIONS.lease(ofMillis(500)));
    List<String> handled = new CopyOnWriteArrayList<>();
    AtomicInteger asked = new AtomicInteger();
    Executor dropsOnce =
        task -> {
          if (asked.getAndIncrement() > 0) {
            game.execute(task);
          }
        };
    try (OwnerSession session = one.open("player:4")) {
      session.handle(sales, dropsOnce, keeping(handled));
      sales.publish(sale("s", 4));
      await().atMost(LONG).until(() -> handled.contains("s"));
    }
  }

  @Test
  void aTaskThatBeginsAfterItsLeaseLeavesTheSessionOpen() throws Exception {
    Topic<Sale> sales = one.topic("overdue", Sale.class, OPTIONS.lease(ofMillis(500)));
    LinkedBlockingQueue<Runnable> tasks = new LinkedBlockingQueue<>();
    List<String> handled = new CopyOnWriteArrayList<>();
    try (OwnerSession session = one.open("player:5");
        OwnerSession other = one.open("player:6")) {
      session.handle(
          sales,
          tasks::add,
          (owner, sale, changes) -> {
            changes.put(new Purse(5, 1));
            handled.add(sale.key());
          });
      other.handle(sales, game, keeping(new ArrayList<>()));
      sales.publish(sale("s", 5)).awaitQueued(LONG);
      Runnable late = tasks.poll(10, TimeUnit.SECONDS);
      await().atMost(LONG).pollDelay(ofSeconds(3)).until(() -> true);
      late.run();
      await()
          .atMost(LONG)
          .until(
              () -> {
                Runnable next = tasks.poll();
                if (next != null) {
                  next.run();
                }
                return isEmpty(sales);
              });
      assertEquals(List.of("s"), handled);
      session.put(new Purse(5, 2));
      session.commit().awaitQueued(LONG);
    }
  }

  @Test
  void nothingIsAcknowledgedByASessionThatLostItsOwner() throws Exception {
    Topic<Sale> sales = topic(one, "lost");
    LinkedBlockingQueue<Runnable> tasks = new LinkedBlockingQueue<>();
    List<String> late = new CopyOnWriteArrayList<>();
    List<String> handled = new CopyOnWriteArrayList<>();
    OwnerSession old = one.open("player:7");
    old.handle(sales, tasks::add, keeping(late));
    sales.publish(sale("s", 7)).awaitQueued(LONG);
    Runnable task = tasks.poll(10, TimeUnit.SECONDS);
    try (OwnerSession newer = two.open("player:7")) {
      await().atMost(LONG).until(() -> old.lost().toCompletableFuture().isDone());
      newer.handle(topic(two, "lost"), game, keeping(handled));
      task.run();
      await().atMost(LONG).until(() -> handled.contains("s"));
    } finally {
      old.close();
    }
  }

  @Test
  void aHandlerThatFailsByAnotherSessionsEndIsAnAttempt() {
    Topic<Sale> sales = topic(one, "friend");
    AtomicInteger attempts = new AtomicInteger();
    OwnerSession friend = one.open("player:9");
    friend.close();
    try (OwnerSession session = one.open("player:8")) {
      session.handle(
          sales,
          game,
          (owner, sale, changes) -> {
            attempts.incrementAndGet();
            friend.put(new Purse(9, 1));
          });
      sales.publish(sale("s", 8));
      await().atMost(LONG).until(() -> sales.counts().dead() == 1);
      assertTrue(attempts.get() < 30, attempts + " attempts");
    }
  }

  @Test
  void restsOnceNoSessionHandles() {
    Topic<Sale> sales = topic(one, "rests");
    try (OwnerSession session = one.open("player:10")) {
      session.handle(sales, game, keeping(new ArrayList<>()));
    }
    long before = cpuNanos("gameq-owners-rests");
    await().atMost(LONG).pollDelay(ofSeconds(3)).until(() -> true);
    long spent = cpuNanos("gameq-owners-rests") - before;
    assertTrue(spent < TimeUnit.MILLISECONDS.toNanos(500), spent / 1_000_000 + " ms of CPU in 3 s");
  }

  private static long cpuNanos(String thread) {
    ThreadMXBean threads = ManagementFactory.getThreadMXBean();
    for (long id : threads.getAllThreadIds()) {
      var info = threads.getThreadInfo(id);
      if (info != null && info.getThreadName().equals(thread)) {
        return threads.getThreadCpuTime(id);
      }
    }
    throw new AssertionError("no thread " + thread);
  }

  @Test
  void callbacksThatAreHeldUpHoldUpNoMessages() throws Exception {
    ExecutorService callbacks = Executors.newSingleThreadExecutor();
    CountDownLatch blocked = new CountDownLatch(1);
    callbacks.execute(
        () -> {
          try {
            blocked.await();
          } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
          }
        });
    try (GameQueue three =
        GameQueue.open(FIXTURE.config("n3", wals).callbacks(callbacks).build())) {
      Topic<Sale> sales = topic(three, "callbacks");
      AtomicInteger handled = new AtomicInteger();
      try (OwnerSession session = three.open("player:11")) {
        session.handle(sales, game, (owner, sale, changes) -> handled.incrementAndGet());
        for (int i = 0; i < 1_500; i++) {
          sales.publish(sale("s" + i, 11));
        }
        await().atMost(LONG).until(() -> handled.get() == 1_500);
      } finally {
        blocked.countDown();
      }
    } finally {
      callbacks.shutdown();
    }
  }

  @Test
  void anOwnerOfThisNodeThatDoesNotHandleTheTopicIsLeftOpen() {
    Topic<Sale> sales = topic(one, "own");
    try (OwnerSession session = one.open("player:12");
        Subscription opener = sales.subscribeOwners(keeping(new ArrayList<>()))) {
      sales.publish(sale("s", 12));
      await()
          .atMost(LONG)
          .until(() -> sales.get("player:12", "s").map(of -> of.error() != null).orElse(false));
      assertFalse(session.lost().toCompletableFuture().isDone());
    }
  }

  @Test
  void anOwnerThatIsOpenElsewhereIsLookedForOnceForAllItsMessages() {
    Topic<Sale> sales = topic(one, "once");
    List<String> expected = new ArrayList<>();
    List<String> handled = new CopyOnWriteArrayList<>();
    try (OwnerSession session = one.open("player:13")) {
      for (int i = 10; i < 60; i++) {
        sales.publish(sale("s" + i, 13)).awaitQueued(LONG);
        expected.add("s" + i);
      }
      AtomicBoolean ignored = new AtomicBoolean();
      try (Subscription opener =
          topic(two, "once").subscribeOwners((owner, sale, changes) -> ignored.set(true))) {
        await()
            .atMost(LONG)
            .until(() -> sales.get("player:13", "s10").map(of -> of.error() != null).orElse(false));
        await().pollDelay(ofSeconds(1)).until(() -> true);
        assertEquals(
            1,
            expected.stream()
                .filter(key -> sales.get("player:13", key).orElseThrow().error() != null)
                .count());
      }
      session.handle(sales, game, keeping(handled));
      await().atMost(LONG).until(() -> handled.size() == 50);
      assertEquals(expected, handled);
    }
  }

  @Test
  void aCallThatComesAfterTheEndOfItsSessionHoldsNothingUp() {
    Topic<Sale> sales = topic(one, "zombie");
    List<String> handled = new CopyOnWriteArrayList<>();
    try (OwnerSession other = one.open("player:15");
        var redis = TestServers.redis()) {
      other.handle(sales, game, keeping(new ArrayList<>()));
      OwnerSession session = one.open("player:14");
      session.handle(sales, game, keeping(new ArrayList<>()));
      String key =
          "{%s:%s}:t:zombie:handlers"
              .formatted(FIXTURE.namespace(), OwnerId.of("player:14").slot(4));
      await().atMost(LONG).until(() -> redis.sync().hexists(key, "player%3A14"));
      String said = redis.sync().hget(key, "player%3A14");
      session.close();
      await().atMost(LONG).until(() -> !redis.sync().hexists(key, "player%3A14"));
      redis.sync().hset(key, "player%3A14", said);
      sales.publish(sale("s", 14));
      try (Subscription opener = topic(two, "zombie").subscribeOwners(keeping(handled))) {
        await().atMost(LONG).until(() -> handled.contains("s"));
      }
    }
  }

  @Test
  void fewerOwnersAreOpenedAtATimeWhileTheirHandlersFail() {
    Topic<Sale> sales = topic(one, "failing");
    try (Subscription opener =
        sales.subscribeOwners(
            (owner, sale, changes) -> {
              throw new IllegalStateException("as always");
            })) {
      for (int player = 20; player < 30; player++) {
        sales.publish(sale("s", player));
      }
      await().atMost(LONG).until(() -> opener.counts().concurrency() == 1);
    }
  }
}
