package io.gameq.writer;

import static io.gameq.servers.Waits.LONG;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.gameq.CommitReceipt;
import io.gameq.GameQueue;
import io.gameq.GameQueueException;
import io.gameq.Ids;
import io.gameq.MySqlUnavailableException;
import io.gameq.OpenResult;
import io.gameq.OwnerSession;
import io.gameq.QueueFullException;
import io.gameq.RedisUnavailableException;
import io.gameq.config.Takeover;
import io.gameq.rights.MySqlRights.Role;
import io.gameq.servers.FaultProxy;
import io.gameq.servers.GameDatabase;
import io.gameq.servers.MySqlServer;
import io.gameq.servers.TestServers;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** No thread of the game waits for longer than it was told to, whichever server is silent. */
@Execution(ExecutionMode.CONCURRENT)
class SilentServersTest {
  private static final int CALLERS = 20;
  private static final Duration TIME = Duration.ofSeconds(2);

  /** Below what any server's own timeout would make of it, and far above what a call takes. */
  private static final long MOST_MILLIS = 2 * TIME.toMillis();

  record Pet(long id, long playerId) {}

  @TempDir Path walDirectory;

  private final FaultProxy redis = new FaultProxy(URI.create(TestServers.redisUri()).getPort());
  private final Map<String, Long> tookMillis = new ConcurrentSkipListMap<>();
  private final ExecutorService threads = Executors.newCachedThreadPool();
  private FaultProxy mysql;
  private Game game;

  @BeforeEach
  void start() throws Exception {
    game =
        new Game(
            GameDatabase.create("silent")
                .table(
                    "pet",
                    "player",
                    "player_id",
                    "id BIGINT NOT NULL PRIMARY KEY, player_id BIGINT NOT NULL, KEY (player_id)"),
            walDirectory);
    mysql = new FaultProxy(game.database.server().port());
  }

  @AfterEach
  void stop() {
    threads.shutdownNow();
    redis.close();
    mysql.close();
    game.close();
  }

  @Test
  void redis() throws Exception {
    withSilent(redis);
  }

  @Test
  void mysql() throws Exception {
    withSilent(mysql);
  }

  @Test
  void both() throws Exception {
    withSilent(redis, mysql);
  }

  @Test
  void whoFindsNoIdsLeftWaitsNoLongerThanItsOwnTime() throws Exception {
    try (GameQueue queue = open()) {
      Ids ids = queue.ids("pet", 1);
      mysql.swallow();
      long only = ids.next();
      List<Future<?>> callers = new ArrayList<>();
      for (int i = 0; i < 6; i++) {
        callers.add(
            threads.submit(
                () -> timed("next id", () -> assertThrows(GameQueueException.class, ids::next))));
      }
      for (Future<?> caller : callers) {
        caller.get(1, TimeUnit.MINUTES);
      }
      assertTrue(
          tookMillis.values().stream().allMatch(millis -> millis <= MOST_MILLIS),
          () -> "ms: " + tookMillis);
      mysql.heal();
      await()
          .atMost(LONG)
          .ignoreExceptionsInstanceOf(GameQueueException.class)
          .until(() -> ids.next() > only);
    }
  }

  @Test
  void anOpenThatNobodyWaitsForDoesNotEndTheSessionOfTheNext() throws Exception {
    try (GameQueue queue = open()) {
      queue.open("player:1").close();
      mysql.holdRequests();
      assertThrows(GameQueueException.class, () -> queue.open("player:1"));
      Future<OwnerSession> again =
          threads.submit(
              () -> {
                while (true) {
                  try {
                    return queue.open("player:1");
                  } catch (GameQueueException e) {
                    assertTrue(String.valueOf(e.getMessage()).contains("player:1"), e::getMessage);
                  }
                }
              });
      mysql.releaseHeld();
      OwnerSession player = again.get(1, TimeUnit.MINUTES);
      for (int id = 1; id <= 20; id++) {
        player.put(new Pet(id, 1));
        player.commit().awaitQueued(TIME.multipliedBy(10));
      }
    }
  }

  @Test
  void whatFailsSinceAServerIsAwayFailsWithTheExceptionOfThatServer() throws Exception {
    try (GameQueue queue = open()) {
      queue.open("player:1").close();
      away(mysql, queue, MySqlUnavailableException.class);
      away(redis, queue, RedisUnavailableException.class);
    }
  }

  private void away(FaultProxy server, GameQueue queue, Class<?> expected) {
    server.refuse(true);
    server.cut();
    for (Runnable call :
        List.<Runnable>of(
            () -> queue.open("player:1"),
            () -> queue.read("player:1", Pet.class),
            () -> queue.openAsync("player:1", Takeover.ALWAYS).toCompletableFuture().join())) {
      // At first it may be known only that the time was up.
      await().atMost(LONG).until(() -> expected.isInstance(failure(call)));
      assertInstanceOf(expected, failure(call));
    }
    List<String> owners = IntStream.range(0, 1_000).mapToObj(id -> "player:" + id).toList();
    List<OpenResult> all =
        queue.openAll(owners, Takeover.ALWAYS, at -> {}).toCompletableFuture().join();
    assertTrue(all.stream().allMatch(of -> expected.isInstance(of.failure())));
    server.refuse(false);
    await().atMost(LONG).ignoreExceptions().until(() -> queue.open("player:1") != null);
  }

  private static @Nullable Throwable failure(Runnable call) {
    try {
      call.run();
      return null;
    } catch (CompletionException e) {
      return e.getCause();
    } catch (GameQueueException e) {
      return e;
    }
  }

  private void withSilent(FaultProxy... silent) throws Exception {
    GameQueue queue = open();
    List<OwnerSession> sessions = new ArrayList<>();
    for (int id = 1; id <= CALLERS; id++) {
      OwnerSession player = queue.open("player:" + id);
      player.put(new Pet(id, id));
      player.commit().awaitQueued(TIME.multipliedBy(10));
      sessions.add(player);
    }
    for (FaultProxy proxy : silent) {
      proxy.swallow();
    }
    List<Future<?>> callers = new ArrayList<>();
    for (int i = 0; i < CALLERS; i++) {
      OwnerSession player = sessions.get(i);
      int id = CALLERS + i;
      callers.add(threads.submit(() -> act(queue, player, id)));
    }
    for (Future<?> caller : callers) {
      caller.get(1, TimeUnit.MINUTES);
    }
    timed("drain", () -> queue.drain(TIME));
    timed("close of the node", queue::close);
    Map<String, Long> tooLong = new TreeMap<>(tookMillis);
    tooLong.values().removeIf(millis -> millis <= MOST_MILLIS);
    assertTrue(tooLong.isEmpty(), () -> "ms: " + tookMillis);
  }

  private GameQueue open() {
    MySqlServer silent = game.database.as(Role.NODE).through(mysql.port());
    return GameQueue.open(
        game.config("n1")
            .redis(TestServers.redisUri(redis.port()))
            .mysql(silent.jdbcUrl(), silent.user(), silent.password())
            .maxInFlight(50_000, 64 << 20, TIME)
            .callTimeout(TIME)
            .build());
  }

  private void act(GameQueue queue, OwnerSession player, int other) {
    timed(
        "open", () -> assertThrows(GameQueueException.class, () -> queue.open("player:" + other)));
    timed(
        "read",
        () ->
            assertThrows(GameQueueException.class, () -> queue.read("player:" + other, Pet.class)));
    timed("commit", () -> commit(player, other));
    timed("await durable", () -> player.awaitDurable(TIME));
    timed("close", () -> close(player));
  }

  private static void commit(OwnerSession player, int id) {
    player.put(new Pet(id, Long.parseLong(player.owner().substring("player:".length()))));
    try {
      CommitReceipt receipt = player.commit();
      assertThrows(GameQueueException.class, () -> receipt.awaitDurable(TIME.dividedBy(2)));
    } catch (QueueFullException e) {
      player.rollback();
    }
  }

  private static void close(OwnerSession player) {
    try {
      player.close();
    } catch (GameQueueException e) {
      assertTrue(String.valueOf(e.getMessage()).contains("ms"), e::getMessage);
    }
  }

  private void timed(String what, Runnable call) {
    long began = System.nanoTime();
    call.run();
    tookMillis.merge(what, TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - began), Math::max);
  }
}
