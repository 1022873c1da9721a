package io.gameq.writer.flush;

import static io.gameq.redis.script.SlotFixture.row;
import static java.util.stream.Collectors.toSet;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.gameq.GameQueueException;
import io.gameq.mysql.MySql;
import io.gameq.mysql.MySqlPool;
import io.gameq.owner.OwnerId;
import io.gameq.owner.SessionId;
import io.gameq.redis.RedisConfig;
import io.gameq.redis.script.StaleRows;
import io.gameq.redis.script.VersionedKey;
import io.gameq.rights.Role;
import io.gameq.rows.EncodedRow;
import io.gameq.servers.GameDatabase;
import io.gameq.servers.TestServers;
import io.gameq.writer.mysql.Discards;
import io.gameq.writer.stale.StaleSessions;
import io.lettuce.core.api.StatefulRedisConnection;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Isolated;

@Isolated("it fills Redis, or changes its settings")
class StaleRowsTest {
  private static final int SLOTS = 4;

  private final String namespace = "t" + UUID.randomUUID().toString().substring(0, 8);
  private final StatefulRedisConnection<String, String> redis = TestServers.redis();
  private final StaleRows stale =
      new StaleRows(new RedisConfig(TestServers.redisUri()), namespace, SLOTS);
  private final SessionId first = new SessionId(1, "aaaaaaaa00000001");
  private final SessionId second = new SessionId(2, "bbbbbbbb00000002");

  @AfterEach
  void close() {
    redis.sync().configSet("maxmemory", "0");
    redis.sync().keys("{" + namespace + ":*").forEach(key -> redis.sync().del(key));
    redis.close();
    stale.close();
  }

  private String slot(OwnerId owner) {
    return "{" + namespace + ":" + owner.slot(SLOTS) + "}";
  }

  private String dirty(OwnerId owner, SessionId session) {
    return slot(owner) + ":dirty:" + owner.encoded() + ":" + session.text();
  }

  private StaleRows.Session parked(OwnerId owner, SessionId session, String... keys) {
    for (int i = 0; i < keys.length; i++) {
      redis.sync().hset(dirty(owner, session), keys[i], row(i + 1, "a"));
    }
    redis.sync().sadd(slot(owner) + ":stale", dirty(owner, session));
    redis.sync().set(slot(owner) + ":own:" + owner.encoded(), second.text());
    return new StaleRows.Session(owner, session, session.equals(second));
  }

  @Test
  void findsTheSessionsOfAllSlotsAndAllTheirRows() {
    for (int i = 0; i < 40; i++) {
      parked(OwnerId.of("player:" + i), first, "item:1");
    }
    assertEquals(40, stale.sessions().size());
    String[] keys = new String[1_200]; // more than one page
    for (int i = 0; i < keys.length; i++) {
      keys[i] = "item:" + i;
    }
    OwnerId odd = OwnerId.of("player:{a}:b");
    StaleRows.Session large = parked(odd, first, keys);
    assertEquals(List.of(large), stale.sessions(odd));
    assertEquals(keys.length, stale.rows(large).size());
  }

  @Test
  void discardsTheRowsAndSaysWhichTheyWere() {
    OwnerId owner = OwnerId.of("player:1");
    StaleRows.Session session = parked(owner, first, "item:1", "item:2");
    StaleRows.Session other = parked(OwnerId.of("player:2"), first, "item:3");
    assertEquals(
        new StaleRows.Discarded(
            List.of(new VersionedKey("item:1", 1), new VersionedKey("item:2", 2))),
        stale.discard(session));
    assertEquals(0, redis.sync().exists(dirty(owner, first)));
    assertEquals(List.of(other), stale.sessions());
    assertEquals(new StaleRows.Gone(), stale.discard(session));
  }

  @Test
  void nothingIsRemovedThatMySqlDoesNotRemember() throws Exception {
    OwnerId owner = OwnerId.of("player:1");
    GameDatabase database = GameDatabase.create("stale");
    MySql mysql = MySqlPool.open(database.as(Role.WRITER).config(1), "stale");
    StaleRows.Session session = parked(owner, first, "item:1", "item:2");
    mysql.close();
    assertThrows(
        GameQueueException.class, () -> StaleSessions.discard(stale, new Discards(mysql), session));
    assertEquals(2, redis.sync().hlen(dirty(owner, first)));

    try (MySql again = MySqlPool.open(database.as(Role.WRITER).config(1), "stale")) {
      StaleRows.Session owning = parked(owner, second, "item:1");
      assertEquals(
          new StaleRows.OwnsNow(), StaleSessions.discard(stale, new Discards(again), owning));
      assertEquals("0", database.server().queryText("SELECT COUNT(*) FROM gameq_discard"));
      StaleRows.Outcome unused = StaleSessions.discard(stale, new Discards(again), session);
      assertEquals("2", database.server().queryText("SELECT COUNT(*) FROM gameq_discard"));
    }
  }

  @Test
  void rowsWithDamagedNamesAreShownAsTheyAreDiscarded() {
    StaleRows.Session session = parked(OwnerId.of("player:1"), first, "é:1", "è:1");
    Set<String> shown = stale.rows(session).stream().map(EncodedRow::key).collect(toSet());
    assertEquals(2, shown.size());
    StaleRows.Discarded discarded = (StaleRows.Discarded) stale.discard(session);
    assertEquals(shown, discarded.rows().stream().map(VersionedKey::key).collect(toSet()));
  }

  @Test
  void rowsThatAreNotParkedAreNotTouched() {
    OwnerId owner = OwnerId.of("player:1");
    redis.sync().hset(dirty(owner, first), "item:1", row(1, "a"));
    assertEquals(new StaleRows.Gone(), stale.discard(new StaleRows.Session(owner, first, false)));
    assertEquals(1, redis.sync().hlen(dirty(owner, first)));
  }

  @Test
  void rowsOfTheSessionThatOwnsAreNeverDiscarded() {
    OwnerId owner = OwnerId.of("player:1");
    StaleRows.Session owning = parked(owner, second, "item:1");
    assertEquals(List.of(owning), stale.sessions());
    assertEquals(new StaleRows.OwnsNow(), stale.discard(owning));
    assertEquals(1, redis.sync().hlen(dirty(owner, second)));
    assertEquals(1, redis.sync().scard(slot(owner) + ":stale"));
  }

  @Test
  void aFullRedisLetsRowsBeDiscarded() {
    StaleRows.Session session = parked(OwnerId.of("player:1"), first, "item:1");
    redis.sync().configSet("maxmemory", "1");
    assertEquals(1, ((StaleRows.Discarded) stale.discard(session)).rows().size());
  }
}
