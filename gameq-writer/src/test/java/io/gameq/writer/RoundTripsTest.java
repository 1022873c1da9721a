package io.gameq.writer;

import static io.gameq.servers.Waits.LONG;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.gameq.GameQueue;
import io.gameq.OpenResult;
import io.gameq.OwnerSession;
import io.gameq.config.Takeover;
import io.gameq.rights.MySqlRights.Role;
import io.gameq.servers.FaultProxy;
import io.gameq.servers.GameDatabase;
import io.gameq.servers.TestServers;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** How often a call waits for a server. */
class RoundTripsTest {
  private static final int OPENS = 100;

  @TempDir Path directory;

  private static List<OpenResult> openAll(GameQueue node) throws Exception {
    return node.openAll(
            IntStream.rangeClosed(1, OPENS).mapToObj(player -> "player:" + player).toList(),
            Takeover.ALWAYS,
            at -> {})
        .toCompletableFuture()
        .get(LONG.toSeconds(), TimeUnit.SECONDS);
  }

  @Test
  void anOpenTakesFewRoundTripsWhateverTheNumberOfTablesAndManyShareThem() throws Exception {
    GameDatabase database = GameDatabase.create("trips");
    for (int table = 0; table < 12; table++) {
      database.table(
          "kind" + table,
          "player",
          "player_id",
          "id BIGINT NOT NULL PRIMARY KEY, player_id BIGINT NOT NULL, count INT NOT NULL");
    }
    URI mysql = URI.create(database.server().jdbcUrl().substring("jdbc:".length()));
    AtomicInteger ofMySqlTrips = new AtomicInteger();
    AtomicInteger ofRedisTrips = new AtomicInteger();
    try (FaultProxy toMySql = new FaultProxy(mysql.getPort(), () -> new RoundTrips(ofMySqlTrips));
        FaultProxy toRedis = FaultProxy.ofRedis(() -> new RoundTrips(ofRedisTrips));
        Game game = new Game(database, directory);
        GameQueue node =
            GameQueue.open(
                game.config("n1")
                    .redis(TestServers.redisUri(toRedis.port()))
                    .mysql(
                        database
                            .server()
                            .jdbcUrl()
                            .replace(":" + mysql.getPort(), ":" + toMySql.port()),
                        database.as(Role.NODE).user(),
                        database.as(Role.NODE).password())
                    .mergeWindow(Duration.ofMinutes(1))
                    .build())) {
      for (int player = 1;
          player <= OPENS;
          player++) { // the second time there is something to adopt
        try (OwnerSession session = node.open("player:" + player)) {
          session.put("kind" + player % 12, Map.of("id", player, "player_id", player, "count", 1));
          session.commit().awaitQueued(LONG);
        }
      }
      int mysqlBefore = ofMySqlTrips.get();
      int redisBefore = ofRedisTrips.get();
      for (int player = 1; player <= OPENS; player++) {
        OwnerSession session = node.open("player:" + player);
        assertEquals(1, session.rows("kind" + player % 12).size());
      }
      int ofMySql = ofMySqlTrips.get() - mysqlBefore;
      int ofRedis = ofRedisTrips.get() - redisBefore;
      String found = ofMySql + " to MySQL and " + ofRedis + " to Redis for " + OPENS + " opens";
      System.out.println(found);
      // three each; a fourth would show beside the few of the background work meanwhile
      assertTrue(ofMySql < 3.5 * OPENS, found);
      assertTrue(ofRedis < 3.5 * OPENS, found);

      mysqlBefore = ofMySqlTrips.get();
      redisBefore = ofRedisTrips.get();
      List<OpenResult> all = openAll(node);
      ofMySql = ofMySqlTrips.get() - mysqlBefore;
      ofRedis = ofRedisTrips.get() - redisBefore;
      String together =
          ofMySql + " to MySQL and " + ofRedis + " to Redis for " + OPENS + " opens at once";
      System.out.println(together);
      assertTrue(all.stream().allMatch(OpenResult::isOpen));
      // those under way share each of the three of MySQL; those of Redis go as they come
      assertTrue(ofMySql < 2.5 * OPENS, together);
      assertTrue(ofRedis < 3.5 * OPENS, together);
    }
  }

  /** Counts how often a client sends something after the server's last answer. */
  private static final class RoundTrips implements FaultProxy.Observer {
    private final AtomicInteger trips;
    private final AtomicBoolean answered = new AtomicBoolean(true);

    RoundTrips(AtomicInteger trips) {
      this.trips = trips;
    }

    @Override
    public boolean request(FaultProxy.Link link, byte[] buffer, int length) {
      trips.addAndGet(answered.compareAndSet(true, false) ? 1 : 0);
      return true;
    }

    @Override
    public void reply(byte[] buffer, int length) {
      answered.set(true);
    }
  }
}
