package io.gameq.metrics;

import static io.gameq.servers.Waits.LONG;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.gameq.GameQueue;
import io.gameq.GameQueueException;
import io.gameq.OwnerSession;
import io.gameq.OwnershipLostException;
import io.gameq.QueueFullException;
import io.gameq.change.Commit;
import io.gameq.node.TestNodes;
import io.gameq.rights.MySqlRights.Role;
import io.gameq.servers.GameDatabase;
import io.gameq.servers.TestServers;
import io.micrometer.core.instrument.Clock;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tag;
import io.micrometer.core.instrument.Timer;
import io.micrometer.core.instrument.cumulative.CumulativeTimer;
import io.micrometer.core.instrument.distribution.DistributionStatisticConfig;
import io.micrometer.core.instrument.distribution.pause.PauseDetector;
import io.micrometer.core.instrument.simple.SimpleConfig;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.io.File;
import java.lang.reflect.Proxy;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Path;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The meters of a node; and a game that has no Micrometer. */
class GameQueueMetricsTest {
  private static final GameDatabase DATABASE = database();

  @TempDir Path walDirectory;

  private final String namespace = "t" + UUID.randomUUID().toString().substring(0, 8);

  private static GameDatabase database() {
    try {
      return GameDatabase.create("meters")
          .table(
              "pet",
              "player",
              "player_id",
              "id BIGINT NOT NULL PRIMARY KEY, player_id BIGINT NOT NULL");
    } catch (SQLException e) {
      throw new IllegalStateException(e);
    }
  }

  private GameQueue node() throws SQLException {
    return node("n1");
  }

  private GameQueue node(String name) throws SQLException {
    DATABASE.server().execute("DELETE FROM gameq_setting WHERE name = 'namespace'");
    return GameQueue.open(
        TestNodes.on(DATABASE)
            .namespace(namespace)
            .node(name)
            .slots(4)
            .maxRowBytes(256)
            .maxCommit(2, 1_024)
            .walDirectory(walDirectory)
            .build());
  }

  private static void commit(OwnerSession session, int... pets) {
    for (int pet : pets) {
      session.put("pet", Map.of("id", pet, "player_id", 1));
    }
    session.commit().awaitQueued(LONG);
  }

  private static double value(MeterRegistry meters, String name, String... tags) {
    Meter meter = meters.get(name).tags(tags).meter();
    return meter.measure().iterator().next().getValue();
  }

  @Test
  void metersShowWhatANodeDidAndHowItIs() throws Exception {
    MeterRegistry meters = new SimpleMeterRegistry();
    try (GameQueue queue = node()) {
      new GameQueueMetrics(queue, List.of(Tag.of("node", "n1"))).bindTo(meters);
      OwnerSession session = queue.open("player:1");
      commit(session, 1, 2);
      commit(session, 2);
      session.put("pet", Map.of("id", 3, "player_id", 1));
      session.put("pet", Map.of("id", 4, "player_id", 1));
      OwnerSession second = queue.open("player:2");
      second.put("pet", Map.of("id", 5, "player_id", 2));
      assertThrows(
          GameQueueException.class, () -> queue.commit(session, second), "three rows are too many");
      second.rollback();
      second.close();
      assertEquals(2, value(meters, "gameq.node.commits", "outcome", "queued", "node", "n1"));
      assertEquals(1, value(meters, "gameq.node.commits", "outcome", "refused"));
      assertEquals(3, value(meters, "gameq.node.rows"));
      assertEquals(1, value(meters, "gameq.node.rows.merged"));
      assertEquals(1, value(meters, "gameq.node.sessions"));
      assertEquals(0, value(meters, "gameq.node.waiting"));
      assertEquals(0, value(meters, "gameq.node.journaled"));
      assertEquals(0, value(meters, "gameq.node.room.used"));
      assertTrue(value(meters, "gameq.node.wal") > 0);
      assertEquals(1, value(meters, "gameq.node.healed"));
      assertEquals(1, value(meters, "gameq.node.mysql"));
      session.rollback();
      for (int i = 0; i < Commit.TIMED_OF; i++) {
        commit(session, 2);
      }
      Timer queued = meters.get("gameq.node.queued").timer();
      assertTrue(queued.count() == 1 || queued.count() == 2, () -> "of ten: " + queued.count());
      assertTrue(queued.totalTime(TimeUnit.NANOSECONDS) > 0);
      assertEquals(0, meters.get("gameq.node.durable").timer().count(), "no writer runs");
      try (GameQueue other = node("n2")) {
        other.open("player:1");
        assertThrows(OwnershipLostException.class, () -> commit(session, 6));
      }
      assertEquals(1, value(meters, "gameq.node.commits", "outcome", "ownership_lost"));
      assertEquals(1, value(meters, "gameq.node.sessions.lost"));
    }
  }

  /** It is called on the thread that carries the commits. */
  @Test
  void aRegistryThatThrowsIsNotToldAgainAndHoldsUpNothing() throws Exception {
    AtomicInteger told = new AtomicInteger();
    MeterRegistry broken =
        new SimpleMeterRegistry(SimpleConfig.DEFAULT, Clock.SYSTEM) {
          @Override
          protected Timer newTimer(
              Meter.Id id, DistributionStatisticConfig config, PauseDetector pauses) {
            return new CumulativeTimer(id, clock, config, pauses, TimeUnit.SECONDS) {
              @Override
              protected void recordNonNegative(long amount, TimeUnit unit) {
                told.incrementAndGet();
                throw new IllegalStateException("full");
              }
            };
          }
        };
    try (GameQueue queue = node()) {
      new GameQueueMetrics(queue).bindTo(broken);
      OwnerSession session = queue.open("player:1");
      for (int i = 0; i < 2 * Commit.TIMED_OF; i++) {
        commit(session, 1);
      }
      assertEquals(16, value(broken, "gameq.node.commits", "outcome", "queued"));
    }
    assertEquals(1, told.get());
  }

  @Test
  void aQueueThatIsNotGameqsIsRefusedByName() {
    GameQueue other =
        (GameQueue)
            Proxy.newProxyInstance(
                GameQueue.class.getClassLoader(),
                new Class<?>[] {GameQueue.class},
                (proxy, method, args) -> {
                  throw new QueueFullException("closed");
                });
    GameQueueException e =
        assertThrows(GameQueueException.class, () -> new GameQueueMetrics(other));
    assertTrue(String.valueOf(e.getMessage()).contains("GameQueue.open"), e::toString);
  }

  /** All that this JVM has but Micrometer, in a class loader of its own. */
  @Test
  void aGameWithoutMicrometerPlays() throws Exception {
    List<URL> classPath = new ArrayList<>();
    for (String entry : System.getProperty("java.class.path").split(File.pathSeparator, -1)) {
      if (!entry.contains("micrometer")) {
        classPath.add(new File(entry).toURI().toURL());
      }
    }
    DATABASE.server().execute("DELETE FROM gameq_setting WHERE name = 'namespace'");
    try (URLClassLoader without =
        new URLClassLoader(classPath.toArray(URL[]::new), ClassLoader.getPlatformClassLoader())) {
      assertThrows(
          ClassNotFoundException.class, () -> without.loadClass(MeterRegistry.class.getName()));
      // DriverManager looks for drivers once in a JVM.
      Class.forName("com.mysql.cj.jdbc.Driver", true, without);
      Thread thread = Thread.currentThread();
      ClassLoader before = thread.getContextClassLoader();
      thread.setContextClassLoader(without);
      try {
        Object pets =
            without
                .loadClass(PlainGame.class.getName())
                .getMethod(
                    "play",
                    String.class,
                    String.class,
                    String.class,
                    String.class,
                    String.class,
                    String.class)
                .invoke(
                    null,
                    TestServers.redisUri(Role.NODE),
                    DATABASE.server().jdbcUrl(),
                    DATABASE.as(Role.NODE).user(),
                    DATABASE.as(Role.NODE).password(),
                    namespace,
                    walDirectory.toString());
        assertEquals(1, pets);
      } finally {
        thread.setContextClassLoader(before);
      }
    }
  }
}
