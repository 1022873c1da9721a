package io.gameq.writer;

import static io.gameq.servers.Waits.LONG;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.gameq.CommitReceipt;
import io.gameq.GameQueue;
import io.gameq.OwnerSession;
import io.gameq.Pressure;
import io.gameq.PushBackException;
import io.gameq.Urgency;
import io.gameq.config.PushBack;
import io.gameq.config.Takeover;
import io.gameq.mysql.MySqlPool;
import io.gameq.mysql.MySqlPool.MySql;
import io.gameq.mysql.MySqlPool.MySqlConfig;
import io.gameq.rights.MySqlRights.Role;
import io.gameq.servers.FaultProxy;
import io.gameq.servers.GameDatabase;
import io.gameq.servers.MySqlServer;
import io.gameq.servers.TestServers;
import io.gameq.writer.flush.WriterOptions;
import io.gameq.writer.service.WriterService;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.net.URI;
import java.nio.file.Path;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** More waits than MySQL takes: what goes first, how fast, and what producers notice. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@Execution(ExecutionMode.SAME_THREAD) // one game: what waits is that of one test
class FlowControlTest {
  private static final int OWNERS = 200;
  private static final int ROWS_OF_EACH = 30;

  record Coin(long id, long playerId, String name) {}

  private GameDatabase database;
  private Game game;

  @BeforeAll
  void start(@TempDir Path walDirectory) throws SQLException {
    database =
        GameDatabase.create("flow")
            .table(
                "coin",
                "player",
                "player_id",
                "id BIGINT NOT NULL PRIMARY KEY, player_id BIGINT NOT NULL, name TEXT NOT NULL,"
                    + " KEY (player_id)");
    game = new Game(database, walDirectory);
  }

  @AfterAll
  void stop() {
    game.close();
  }

  private static CommitReceipt commit(OwnerSession session, long id, Urgency urgency) {
    session.put(new Coin(id, Long.parseLong(session.owner().substring(7)), "n"));
    return session.commit(urgency);
  }

  /** Rows of many owners that wait for a writer. */
  private static void backlog(GameQueue queue, int from) {
    List<CompletableFuture<OwnerSession>> opening =
        IntStream.range(from, from + OWNERS)
            .mapToObj(owner -> queue.openAsync("player:" + owner, Takeover.ALWAYS))
            .map(CompletionStage::toCompletableFuture)
            .toList();
    CommitReceipt last = null;
    for (CompletableFuture<OwnerSession> opened : opening) {
      OwnerSession session = opened.join();
      long owner = Long.parseLong(session.owner().substring(7));
      for (int row = 0; row < ROWS_OF_EACH; row++) {
        session.put(new Coin(owner * 1_000 + row, owner, "bulk"));
      }
      last = session.commit();
    }
    Objects.requireNonNull(last).awaitQueued(LONG);
  }

  private long bulkInMySql(int from) throws SQLException {
    return Long.parseLong(
        game.queryText(
            "SELECT COUNT(*) FROM coin WHERE name = 'bulk' AND player_id >= "
                + from
                + " AND player_id < "
                + (from + OWNERS)));
  }

  @Test
  void urgentRowsPassABacklogOfATenTimesSlowerMySqlAndNothingIsSetAside() throws Exception {
    SimpleMeterRegistry meters = new SimpleMeterRegistry();
    AtomicInteger times = new AtomicInteger(1);
    MySqlServer server = database.as(Role.WRITER);
    URI target = URI.create(server.jdbcUrl().substring("jdbc:".length()));
    try (FaultProxy proxy = new FaultProxy(target.getPort(), () -> new Slower(times));
        MySql slow =
            MySqlPool.openForFlushes(
                new MySqlConfig(
                    server.jdbcUrl().replace(":" + target.getPort(), ":" + proxy.port()),
                    server.user(),
                    server.password(),
                    8));
        GameQueue queue = game.node("n1")) {
      backlog(queue, 1_000);
      List<OwnerSession> urgent = new ArrayList<>();
      for (int i = 0; i < 5; i++) {
        urgent.add(queue.open("player:" + (900 + i)));
      }
      times.set(10);
      try (WriterService writer = game.writer("w1", 30_000, slow, meters)) {
        await().atMost(LONG).until(() -> bulkInMySql(1_000) > 0);
        List<CommitReceipt> receipts =
            urgent.stream()
                .map(of -> commit(of, 900_000 + of.owner().hashCode(), Urgency.URGENT))
                .toList();
        receipts.forEach(receipt -> receipt.awaitDurable(LONG));
        long passed = bulkInMySql(1_000);
        assertTrue(passed < OWNERS * ROWS_OF_EACH, "they waited for all " + passed);
        times.set(1);
        assertEquals(Set.of(), queue.drain(LONG));
        assertEquals(0, writer.stats().deadLetters());
        assertEquals(0, writer.stats().givenBack());
        List<String> outcomes =
            meters.find("gameq.writer.flush.outcomes").counters().stream()
                .map(Counter::getId)
                .map(id -> id.getTag("outcome"))
                .toList();
        assertEquals(List.of("committed"), outcomes);
      }
      assertEquals(OWNERS * ROWS_OF_EACH, bulkInMySql(1_000));
    }
  }

  @Test
  void urgentCommitsAlsoOfSeveralSessionsDoNotWaitForTheMergeWindow() throws Exception {
    try (GameQueue queue =
            GameQueue.open(game.config("n2").mergeWindow(Duration.ofMinutes(10)).build());
        WriterService writer = game.writer("w2")) {
      OwnerSession one = queue.open("player:1");
      OwnerSession two = queue.open("player:2");
      OwnerSession late = queue.open("player:3");
      commit(late, 3, Urgency.NORMAL).awaitQueued(LONG);
      commit(one, 1, Urgency.NORMAL).awaitQueued(LONG);
      commit(one, 4, Urgency.URGENT).awaitDurable(LONG);
      assertEquals(Set.of(), one.notDurable(), "what waited of the owner went with it");
      one.put(new Coin(5, 1, "x"));
      two.put(new Coin(6, 2, "y"));
      queue.commit(Urgency.URGENT, one, two).awaitDurable(LONG);
      assertFalse(late.notDurable().isEmpty());
      await().atMost(LONG).until(() -> writer.stats().flushes() >= 2); // counted after the ack
      assertEquals(2, writer.stats().flushes(), "of both sessions at once");
    }
  }

  @Test
  void aWriterTakesNoMoreRowsASecondThanItsCeiling() {
    game.rowsPerSecond = 3_000;
    try (GameQueue queue = game.node("n3")) {
      backlog(queue, 3_000);
      long began = System.nanoTime();
      try (WriterService writer = game.writer("w3")) {
        assertEquals(Set.of(), queue.drain(LONG));
        double seconds = (System.nanoTime() - began) / 1e9;
        double rows = (double) OWNERS * ROWS_OF_EACH;
        double unused = game.rowsPerSecond / 4.0; // a quarter of a second at once
        assertTrue((rows - unused) / seconds <= 1.1 * game.rowsPerSecond, () -> seconds + " s");
      }
    } finally {
      game.rowsPerSecond = WriterOptions.NO_CEILING;
    }
  }

  @Test
  void eachPolicyPushesBackInItsWayAndEndsWithTheBacklog() {
    lookNow(); // what waited in another test is gone
    List<Pressure> told = new CopyOnWriteArrayList<>();
    Duration slowdown = Duration.ofMillis(300);
    try (GameQueue refuses =
            GameQueue.open(
                game.config("n4")
                    .mergeWindow(Duration.ofMinutes(1))
                    .pushBackAtRows(10, PushBack.REFUSE)
                    .build());
        GameQueue slows =
            GameQueue.open(
                game.config("n5").pushBackAtRows(10, PushBack.SLOW).maxSlowdown(slowdown).build());
        GameQueue tells =
            GameQueue.open(
                game.config("n6")
                    .pushBackAtRows(10, PushBack.CALLBACK)
                    .onPressure(told::add)
                    .build())) {
      OwnerSession refused = refuses.open("player:41");
      OwnerSession slowed = slows.open("player:51");
      OwnerSession free = tells.open("player:61");
      for (int row = 0; row < 20; row++) {
        refused.put(new Coin(41_000 + row, 41, "many"));
      }
      refused.commit().awaitQueued(LONG);
      await().atMost(LONG).until(() -> isPushedBack(refuses, slows, tells));

      refused.put(new Coin(41_100, 41, "staged"));
      PushBackException why = assertThrows(PushBackException.class, refused::commit);
      assertTrue(why.pressure().value() >= 20, why::getMessage);
      long began = System.nanoTime();
      commit(slowed, 51_000, Urgency.NORMAL).awaitQueued(LONG);
      assertTrue(System.nanoTime() - began >= slowdown.toNanos());
      commit(free, 61_000, Urgency.NORMAL).awaitQueued(LONG);
      assertEquals(List.of(true), told.stream().map(Pressure::isOn).toList());
      OwnerSession urgent = refuses.open("player:42");
      commit(urgent, 42_000, Urgency.URGENT).awaitQueued(LONG);
      OwnerSession closed = refuses.open("player:43");
      closed.put(new Coin(43_000, 43, "last"));
      closed.close(); // what it has staged is not dropped

      try (WriterService writer = game.writer("w4")) {
        assertEquals(Set.of(), refuses.drain(LONG));
        await().atMost(LONG).until(() -> isFree(refuses, slows, tells));
        assertEquals(List.of(true, false), told.stream().map(Pressure::isOn).toList());
        refused.commit(Urgency.URGENT).awaitDurable(LONG); // what was refused is still staged
      }
    }
  }

  private boolean isPushedBack(GameQueue... queues) {
    lookNow();
    return List.of(queues).stream().noneMatch(queue -> queue.pressure().isEmpty());
  }

  private boolean isFree(GameQueue... queues) {
    lookNow();
    return List.of(queues).stream().allMatch(queue -> queue.pressure().isEmpty());
  }

  /** Whoever asks next: the look of some seconds ago is forgotten. */
  private void lookNow() {
    TestServers.redis().sync().del(game.namespace + ":backlog");
  }

  /** Each answer of MySQL comes after so many times the time that the server took for it. */
  private static final class Slower implements FaultProxy.Observer {
    private final AtomicInteger times;
    private final AtomicLong askedNanos = new AtomicLong();

    Slower(AtomicInteger times) {
      this.times = times;
    }

    @Override
    public boolean request(FaultProxy.Link link, byte[] buffer, int length) {
      askedNanos.compareAndSet(0, System.nanoTime());
      return true;
    }

    @Override
    public void reply(byte[] buffer, int length) {
      long asked = askedNanos.getAndSet(0);
      if (asked != 0 && times.get() > 1) {
        long until = System.nanoTime() + (times.get() - 1) * (System.nanoTime() - asked);
        for (long left; (left = until - System.nanoTime()) > 0; ) {
          LockSupport.parkNanos(left);
        }
      }
    }
  }
}
