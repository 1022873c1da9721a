package io.gameq.writer.flush;

import static io.gameq.servers.Waits.LONG;
import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.gameq.agent.AgentRunner.Agent;
import io.gameq.mysql.MySqlPool;
import io.gameq.mysql.MySqlPool.MySql;
import io.gameq.mysql.tables.TermTable;
import io.gameq.redis.ControlConnection;
import io.gameq.redis.PrimaryConnector;
import io.gameq.redis.RedisClock;
import io.gameq.redis.RedisConnection;
import io.gameq.redis.RedisConnector;
import io.gameq.redis.RedisConnector.RedisConfig;
import io.gameq.redis.Slots;
import io.gameq.redis.script.ClaimScript;
import io.gameq.rights.MySqlRights.Role;
import io.gameq.servers.GameDatabase;
import io.gameq.servers.MySqlServer;
import io.gameq.servers.TestServers;
import io.gameq.writer.flush.SlotWatch.TermWatch;
import java.sql.SQLException;
import java.util.List;
import java.util.Objects;
import java.util.TreeSet;
import java.util.UUID;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class SlotWatchTest {
  private final MySqlServer server = GameDatabase.create("watch").server();
  private final MySql mysql = MySqlPool.open(server.as(Role.WRITER).config(2), "watch");
  private final RedisConnector connector =
      new RedisConnector(new RedisConfig(TestServers.redisUri()));
  private final PrimaryConnector primary = new PrimaryConnector(connector, new TermTable(mysql));
  private final RedisConnection redis = connector.open();
  private final Slots slots = new Slots("t" + UUID.randomUUID().toString().substring(0, 8), 4);
  private final SlotSchedule schedule =
      new SlotSchedule(
          slots.count(),
          new FlushPace(
              new ClaimScript.Bounds(100, 1_000, 1 << 20, 30_000), 4, 0, System::nanoTime),
          slot -> false,
          System::nanoTime);
  private final ControlConnection ofWatch = new ControlConnection(primary);
  private volatile boolean isMySqlThere = true;
  private final FlushBlockers.OutageBreaker gate =
      new FlushBlockers.OutageBreaker(() -> isMySqlThere);
  private final RedisClock clock = new RedisClock();
  private final Agent watch = watch().duty();

  SlotWatchTest() throws SQLException {}

  private SlotWatch watch() {
    try (ControlConnection first = new ControlConnection(primary)) {
      first.get(); // the database has a term from now on
    }
    return new SlotWatch(
        ofWatch,
        new TermWatch(primary),
        slots,
        schedule,
        gate,
        30_000,
        () -> new SlotWatch.WriterRank(0, 1),
        clock);
  }

  @AfterEach
  void close() {
    ofWatch.close();
    redis.close();
    connector.close();
    mysql.close();
  }

  private void due(int slot, double millis) {
    redis.sync().zadd(slots.get(slot).due(), millis, "player%3A1:session".getBytes(US_ASCII));
  }

  private SlotSchedule.Assignment awaitTaken() {
    return await()
        .atMost(LONG)
        .until(
            () -> {
              watch.doWork();
              return schedule.poll();
            },
            Objects::nonNull);
  }

  @Test
  void findsWhereSomebodyIsDueWasLeftOrHasALeaseThatRanOut() {
    due(1, 1);
    assertEquals(List.of(1), awaitTaken().slots());
    redis.sync().lpush(slots.get(2).ready(), "player%3A2:session".getBytes(US_ASCII));
    assertEquals(List.of(2), awaitTaken().slots());
    redis.sync().zadd(slots.get(3).lease(), 1, "player%3A3".getBytes(US_ASCII));
    assertEquals(3, awaitTaken().expired());
  }

  @Test
  void aSlotWithSomebodyElsesValueIsTakenSoThatItIsTold() {
    redis.sync().set(slots.get(1).due(), "x".getBytes(US_ASCII));
    assertEquals(List.of(1), awaitTaken().slots());
  }

  @Test
  void whoIsDueLaterIsNotTakenYet() {
    due(1, System.currentTimeMillis() + 600_000.0);
    watch.doWork();
    assertNull(schedule.poll());
  }

  /** By less than the longest merge window, so that claims cannot tell. */
  @Test
  void whenRedisClockWentBackWhoWaitsIsDueAndLeasesAreCut() {
    long now = RedisClock.now(redis);
    assertEquals(0, clock.measure(redis));
    clock.saw(now + 300_000, System.nanoTime());
    due(1, now + 300_000.0);
    byte[] owner = "player%3A2".getBytes(US_ASCII);
    redis.sync().zadd(slots.get(1).lease(), now + 330_000.0, owner);
    redis.sync().set(slots.get(2).due(), "x".getBytes(US_ASCII)); // somebody else's
    redis.sync().zadd(slots.get(3).lease(), now + 10_000.0, owner);
    watch.doWork();
    byte[] waits = redis.sync().zrange(slots.get(1).due(), 0, 0).get(0);
    assertTrue(redis.sync().zscore(slots.get(1).due(), waits) <= RedisClock.now(redis));
    assertTrue(redis.sync().zscore(slots.get(1).lease(), owner) <= RedisClock.now(redis) + 30_000);
    assertEquals(now + 10_000.0, redis.sync().zscore(slots.get(3).lease(), owner), "as it was");
  }

  /** However many there are, up to ten; of more, several look between. */
  @Test
  void writersLookInTurnFiveTimesASecondTogether() {
    for (int writers : new int[] {1, 2, 3, 10, 100}) {
      TreeSet<Long> looks = new TreeSet<>();
      for (int rank = 0; rank < writers; rank++) {
        long now = 1_000_000 + 37L * rank; // each begins at some time
        SlotWatch.WriterRank turn = new SlotWatch.WriterRank(rank, writers);
        while (now < 1_020_000) {
          now += turn.restMillis(now);
          assertTrue(looks.add(now), () -> "two look at once of " + writers);
          now += 5; // which a look takes
        }
      }
      long apart = Math.min(200, 2_000 / writers);
      List<Long> all = List.copyOf(looks.subSet(1_005_000L, 1_020_000L));
      for (int i = 1; i < all.size(); i++) {
        assertEquals(apart, all.get(i) - all.get(i - 1), writers + " writers");
      }
    }
  }

  /** Else nobody would ever ask whether it is back, where no slot waits for that. */
  @Test
  void asksWhetherMySqlIsBackAndLooksAtNoSlotBefore() {
    isMySqlThere = false;
    long unused = gate.close("a test");
    due(1, 1);
    watch.doWork();
    assertNull(schedule.poll());
    isMySqlThere = true;
    assertEquals(List.of(1), awaitTaken().slots());
  }
}
