package io.gameq.writer.flush;

import static io.gameq.redis.script.SlotFixture.row;
import static java.util.stream.Collectors.toSet;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.gameq.GameQueueException;
import io.gameq.mysql.MySqlPool;
import io.gameq.mysql.MySqlPool.MySql;
import io.gameq.owner.OwnerId;
import io.gameq.owner.SessionId;
import io.gameq.redis.ControlConnection;
import io.gameq.redis.RedisConnector;
import io.gameq.redis.RedisConnector.RedisConfig;
import io.gameq.redis.Slots;
import io.gameq.redis.script.ClaimScript.VersionedKey;
import io.gameq.rights.MySqlRights.Role;
import io.gameq.rows.EncodedRow;
import io.gameq.servers.GameDatabase;
import io.gameq.servers.TestServers;
import io.gameq.terminal.ExitCodes;
import io.gameq.writer.CommandLineRun;
import io.gameq.writer.ConfigFile;
import io.gameq.writer.admin.StaleSessions;
import io.gameq.writer.redis.StaleRows;
import io.gameq.writer.redis.StaleRows.DiscardStatus;
import io.lettuce.core.api.StatefulRedisConnection;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Isolated;

@Isolated("it fills Redis, or changes its settings")
class StaleRowsTest {
  private static final int SLOTS = 4;

  private final String namespace = "t" + UUID.randomUUID().toString().substring(0, 8);
  private final StatefulRedisConnection<String, String> redis = TestServers.redis();
  private final RedisConnector connector =
      new RedisConnector(new RedisConfig(TestServers.redisUri()));
  private final ControlConnection connection = new ControlConnection(connector);
  private final StaleRows stale = new StaleRows(connection, new Slots(namespace, SLOTS));
  private final SessionId first = new SessionId(1, "aaaaaaaa00000001");
  private final SessionId second = new SessionId(2, "bbbbbbbb00000002");

  @AfterEach
  void close() {
    redis.sync().configSet("maxmemory", "0");
    redis.sync().keys("{" + namespace + ":*").forEach(key -> redis.sync().del(key));
    redis.close();
    connector.close();
  }

  private String slot(OwnerId owner) {
    return "{" + namespace + ":" + owner.slot(SLOTS) + "}";
  }

  private String dirty(OwnerId owner, SessionId session) {
    return slot(owner) + ":dirty:" + owner.encoded() + ":" + session.text();
  }

  private StaleRows.StaleSession parked(OwnerId owner, SessionId session, String... keys) {
    for (int i = 0; i < keys.length; i++) {
      redis.sync().hset(dirty(owner, session), keys[i], row(i + 1, "a"));
    }
    redis.sync().sadd(slot(owner) + ":stale", dirty(owner, session));
    redis.sync().set(slot(owner) + ":own:" + owner.encoded(), second.text());
    return new StaleRows.StaleSession(owner, session, session.equals(second));
  }

  private List<StaleRows.StaleSession> all() {
    StaleRows.SessionPage page = stale.page("", 1_000);
    assertEquals("", page.next());
    assertEquals(page.sessions().size(), page.count());
    return page.sessions().stream().map(StaleRows.SessionSummary::session).toList();
  }

  private long commands() {
    return redis
        .sync()
        .info("stats")
        .lines()
        .filter(of -> of.startsWith("total_commands_processed:"))
        .mapToLong(of -> Long.parseLong(of.split(":", -1)[1].strip()))
        .sum();
  }

  @Test
  void findsTheSessionsOfAllSlotsAndAllTheirRows() {
    for (int i = 0; i < 40; i++) {
      parked(OwnerId.of("player:" + i), first, "item:1");
    }
    assertEquals(40, all().size());
    String[] keys = new String[1_200]; // more than one page
    for (int i = 0; i < keys.length; i++) {
      keys[i] = "item:" + i;
    }
    OwnerId odd = OwnerId.of("player:{a}:b");
    StaleRows.StaleSession large = parked(odd, first, keys);
    assertEquals(List.of(large), stale.sessions(odd));
    Set<String> seen = new HashSet<>();
    stale.rows(large, page -> seen.addAll(page.stream().map(EncodedRow::key).toList()));
    assertEquals(Set.of(keys), seen);
  }

  @Test
  void aPageOfSessionsCostsTheSameHoweverManyThereAre(@TempDir Path directory) throws Exception {
    GameDatabase database = GameDatabase.create("stale");
    ConfigFile config = ConfigFile.write(directory, database.server(), namespace, SLOTS);
    for (int i = 0; i < 2_000; i++) {
      parked(OwnerId.of("player:" + i), first, "item:1");
    }
    String after = "";
    Set<String> listed = new HashSet<>();
    for (int pages = 1; pages == 1 || !after.isEmpty(); pages++) {
      long before = commands();
      CommandLineRun run = config.run("stale list --limit 100" + after);
      assertTrue(commands() - before < 600, "commands: " + (commands() - before));
      assertEquals(ExitCodes.FOUND_SOMETHING, run.exitCode(), run::toString);
      run.out().lines().filter(of -> of.startsWith("player:")).forEach(listed::add);
      assertEquals(2_000 > listed.size(), run.out().contains("there are 2,000 sessions"));
      Matcher next = Pattern.compile("--after \\d+/\\d+").matcher(run.out());
      after = next.find() ? " " + next.group() : "";
      assertTrue(pages <= 24, run::toString);
    }
    assertEquals(2_000, listed.size());
    assertTrue(config.run("stale list --after 7").err().contains("a page begins where"));
    CommandLineRun discarded = config.run("stale discard --all --yes");
    assertTrue(discarded.out().endsWith("\n2,000 stale rows discarded\n"), discarded::toString);
    assertEquals(List.of(), all());
  }

  @Test
  void ofManyRowsTheBytesAreEstimatedFromSome() {
    String[] keys = new String[1_200];
    Arrays.setAll(keys, i -> "item:" + (1_000 + i));
    parked(OwnerId.of("player:1"), first, keys);
    StaleRows.SessionSummary of = stale.page("", 10).sessions().get(0);
    assertEquals(1_200, of.rows());
    assertTrue(of.isAbout());
    int row = keys[0].length() + row(1, "a").length();
    assertEquals(1_200L * row, of.bytes());
    parked(OwnerId.of("player:2"), first, "item:1", "item:2");
    StaleRows.SessionSummary few =
        stale.page("", 10).sessions().stream()
            .filter(one -> one.rows() == 2)
            .findFirst()
            .orElseThrow();
    assertEquals(2, few.newestVersion());
    assertFalse(few.isAbout());
  }

  @Test
  void discardsTheRowsAndSaysWhichTheyWere() {
    OwnerId owner = OwnerId.of("player:1");
    StaleRows.StaleSession session = parked(owner, first, "item:1", "item:2");
    StaleRows.StaleSession other = parked(OwnerId.of("player:2"), first, "item:3");
    assertEquals(
        new StaleRows.DiscardResult(
            DiscardStatus.REMOVED,
            List.of(new VersionedKey("item:1", 1), new VersionedKey("item:2", 2))),
        stale.discard(session));
    assertEquals(0, redis.sync().exists(dirty(owner, first)));
    assertEquals(List.of(other), all());
    assertEquals(DiscardStatus.ABSENT, stale.discard(session).status());
  }

  @Test
  void nothingIsRemovedThatMySqlDoesNotRemember() throws Exception {
    OwnerId owner = OwnerId.of("player:1");
    GameDatabase database = GameDatabase.create("stale");
    MySql mysql = MySqlPool.open(database.as(Role.WRITER).config(1), "stale");
    StaleRows.StaleSession session = parked(owner, first, "item:1", "item:2");
    mysql.close();
    assertThrows(GameQueueException.class, () -> StaleSessions.discard(stale, mysql, session));
    assertEquals(2, redis.sync().hlen(dirty(owner, first)));

    try (MySql again = MySqlPool.open(database.as(Role.WRITER).config(1), "stale")) {
      StaleRows.StaleSession owning = parked(owner, second, "item:1");
      assertEquals(DiscardStatus.OWNER, StaleSessions.discard(stale, again, owning).status());
      assertEquals("0", database.server().queryText("SELECT COUNT(*) FROM gameq_discard"));
      StaleRows.DiscardResult unused = StaleSessions.discard(stale, again, session);
      assertEquals("2", database.server().queryText("SELECT COUNT(*) FROM gameq_discard"));
    }
  }

  @Test
  void rowsWithDamagedNamesAreShownAsTheyAreDiscarded() {
    StaleRows.StaleSession session = parked(OwnerId.of("player:1"), first, "é:1", "è:1");
    Set<String> shown = new HashSet<>();
    stale.rows(session, page -> shown.addAll(page.stream().map(EncodedRow::key).toList()));
    assertEquals(2, shown.size());
    StaleRows.DiscardResult discarded = stale.discard(session);
    assertEquals(shown, discarded.rows().stream().map(VersionedKey::key).collect(toSet()));
  }

  @Test
  void rowsThatAreNotParkedAreNotTouched() {
    OwnerId owner = OwnerId.of("player:1");
    redis.sync().hset(dirty(owner, first), "item:1", row(1, "a"));
    assertEquals(
        DiscardStatus.ABSENT,
        stale.discard(new StaleRows.StaleSession(owner, first, false)).status());
    assertEquals(1, redis.sync().hlen(dirty(owner, first)));
  }

  @Test
  void rowsOfTheSessionThatOwnsAreNeverDiscarded() {
    OwnerId owner = OwnerId.of("player:1");
    StaleRows.StaleSession owning = parked(owner, second, "item:1");
    assertEquals(List.of(owning), all());
    assertEquals(DiscardStatus.OWNER, stale.discard(owning).status());
    assertEquals(1, redis.sync().hlen(dirty(owner, second)));
    assertEquals(1, redis.sync().scard(slot(owner) + ":stale"));
  }

  @Test
  void aFullRedisLetsRowsBeDiscarded() {
    StaleRows.StaleSession session = parked(OwnerId.of("player:1"), first, "item:1");
    redis.sync().configSet("maxmemory", "1");
    assertEquals(1, stale.discard(session).rows().size());
  }
}
