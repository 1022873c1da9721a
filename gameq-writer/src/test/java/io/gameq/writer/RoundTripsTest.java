package io.gameq.writer;

import static io.gameq.servers.Waits.LONG;
import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.gameq.CommitReceipt;
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
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
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

  @Test
  void commitsWhileAGroupIsOnItsWayTravelTogether() throws Exception {
    try (CountedGroups game = new CountedGroups(Duration.ZERO)) {
      game.proxy.delay(400); // each takes that long
      int before = game.groups.get();
      List<CommitReceipt> receipts = new ArrayList<>();
      for (int player = 1; player <= 40; player++) {
        receipts.add(game.commit(player));
        if (player == 1) {
          await().atMost(LONG).until(() -> game.groups.get() > before); // it is on its way
        }
      }
      receipts.forEach(receipt -> receipt.awaitQueued(LONG));
      assertEquals(before + 2, game.groups.get());
      game.proxy.heal();
    }
  }

  @Test
  void commitsThatComeOftenTravelTogether() throws Exception {
    try (CountedGroups game = new CountedGroups(Duration.ofMillis(100))) {
      int fewest = Integer.MAX_VALUE;
      for (int tries = 0; tries < 20 && fewest > 1; tries++) { // the first are too rare for it
        int before = game.groups.get();
        List<CommitReceipt> receipts = new ArrayList<>();
        for (int player = 1; player <= 5; player++) { // so slowly that each has time to go alone
          receipts.add(game.commit(player));
          LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(2));
        }
        receipts.forEach(receipt -> receipt.awaitQueued(LONG));
        fewest = Math.min(fewest, game.groups.get() - before);
      }
      assertEquals(1, fewest);
    }
  }

  @Test
  void aCommitThatSomebodyWaitsForDoesNotLinger() throws Exception {
    try (CountedGroups game = new CountedGroups(Duration.ofMillis(100))) {
      long waited = 0;
      for (int round = 0; round < 20; round++) {
        CompletableFuture.allOf( // many at once: the next would linger
                IntStream.rangeClosed(1, 5)
                    .mapToObj(player -> game.commit(player).queued())
                    .toArray(CompletableFuture<?>[]::new))
            .get(LONG.toSeconds(), TimeUnit.SECONDS);
        long began = System.nanoTime();
        game.commit(6).awaitQueued(LONG);
        waited += System.nanoTime() - began;
      }
      long millis = TimeUnit.NANOSECONDS.toMillis(waited);
      assertTrue(millis < 20 * 100 / 2, () -> "took " + millis + " ms");
    }
  }

  /** A node that commits one row for each of 40 owners, and how many groups it has sent. */
  private final class CountedGroups implements AutoCloseable {
    final AtomicInteger groups = new AtomicInteger();
    final FaultProxy proxy = FaultProxy.ofRedis(() -> new CommitGroups(groups));
    private final Game game;
    private final GameQueue node;
    private final List<OwnerSession> sessions;

    CountedGroups(Duration linger) throws Exception {
      GameDatabase database = GameDatabase.create("groups");
      database.table(
          "item",
          "player",
          "player_id",
          "id BIGINT NOT NULL PRIMARY KEY, player_id BIGINT NOT NULL");
      game = new Game(database, directory);
      node =
          GameQueue.open(
              game.config("n1").redis(TestServers.redisUri(proxy.port())).linger(linger).build());
      sessions =
          IntStream.rangeClosed(1, 40).mapToObj(player -> node.open("player:" + player)).toList();
    }

    CommitReceipt commit(int player) {
      OwnerSession session = sessions.get(player - 1);
      session.put("item", Map.of("id", player, "player_id", player));
      return session.commit();
    }

    @Override
    public void close() throws Exception {
      node.close();
      game.close();
      proxy.close();
    }
  }

  /** Counts the MULTIs that a client sends. */
  private static final class CommitGroups implements FaultProxy.Observer {
    private final AtomicInteger groups;

    CommitGroups(AtomicInteger groups) {
      this.groups = groups;
    }

    @Override
    public boolean request(FaultProxy.Link link, byte[] buffer, int length) {
      String sent = new String(buffer, 0, length, ISO_8859_1);
      groups.addAndGet(sent.split("MULTI\r\n", -1).length - 1);
      return true;
    }

    @Override
    public void reply(byte[] buffer, int length) {}
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
