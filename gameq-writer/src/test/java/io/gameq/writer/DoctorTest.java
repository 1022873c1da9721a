package io.gameq.writer;

import static io.gameq.servers.Waits.LONG;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.gameq.GameQueue;
import io.gameq.OwnerSession;
import io.gameq.mysql.tables.AuditTable;
import io.gameq.owner.OwnerId;
import io.gameq.redis.ControlConnection;
import io.gameq.redis.RedisConnector;
import io.gameq.redis.RedisConnector.RedisConfig;
import io.gameq.redis.SlotKeys;
import io.gameq.redis.Slots;
import io.gameq.rights.MySqlRights.Role;
import io.gameq.servers.GameDatabase;
import io.gameq.servers.TestServers;
import io.gameq.terminal.ExitCodes;
import io.gameq.writer.doctor.DoctorCommand.Diagnosis;
import io.gameq.writer.doctor.DoctorCommand.Doctor;
import io.gameq.writer.doctor.FindingKind;
import io.gameq.writer.service.WriterService;
import io.lettuce.core.api.StatefulRedisConnection;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** A Redis that was broken in every way that {@code doctor} knows, and one that was not. */
@Execution(ExecutionMode.CONCURRENT)
class DoctorTest {
  private static final AuditTable.Actor ACTOR = new AuditTable.Actor("ann", "test");
  private static final String SENT = "0000000000000000-";
  private static final String GONE = "0000000000000001-deadbeef00000001";

  record Item(long playerId, int slot, int count) {}

  @TempDir Path directory;

  private Game game;
  private RedisConnector connector;
  private ControlConnection redis;
  private StatefulRedisConnection<String, String> raw;
  private Doctor doctor;

  @BeforeEach
  void start() throws Exception {
    GameDatabase database =
        GameDatabase.create("doctor")
            .table(
                "item",
                "player",
                "player_id",
                "player_id BIGINT NOT NULL, slot INT NOT NULL, count INT NOT NULL, PRIMARY KEY"
                    + " (player_id, slot)");
    game = new Game(database, directory);
    connector =
        new RedisConnector(new RedisConfig(TestServers.redisUri(Role.WRITER, game.namespace)));
    redis = new ControlConnection(connector);
    raw = TestServers.redis();
    doctor = new Doctor(new Slots(game.namespace, Game.SLOTS), redis, Duration.ofMillis(300), 0);
  }

  @AfterEach
  void stop() {
    raw.close();
    redis.close();
    connector.close();
    game.close();
  }

  private Diagnosis examine() throws InterruptedException {
    return doctor.examine(of -> {});
  }

  private String slot(int player) {
    return new SlotKeys(game.namespace, OwnerId.of("player:" + player).slot(Game.SLOTS)).prefix();
  }

  private static String owner(int player) {
    return "player%3A" + player;
  }

  private String session(int player) {
    return raw.sync().get(slot(player) + ":own:" + owner(player));
  }

  private String dirty(int player) {
    return slot(player) + ":dirty:" + entry(player);
  }

  private String entry(int player) {
    return owner(player) + ":" + session(player);
  }

  /** As a claim leaves it, for the next test to break. */
  private void claim(int player, String token) {
    String session = session(player);
    raw.sync().rename(dirty(player), slot(player) + ":claimed:" + owner(player));
    raw.sync().zrem(slot(player) + ":due", entry(player));
    raw.sync().hset(slot(player) + ":claim", owner(player), token + " " + session + " 1 0 0 w9");
    raw.sync().zadd(slot(player) + ":lease", 9e15, owner(player));
    raw.sync().lpush(slot(player) + ":inflight:w9", entry(player));
  }

  private void breakAll() {
    // 1: nothing makes it due
    raw.sync().zrem(slot(1) + ":due", entry(1));
    // 2: a claim without a lease
    claim(2, "t.2");
    raw.sync().zrem(slot(2) + ":lease", owner(2));
    // 3: claimed rows without a claim, and what the claim left
    claim(3, "t.3");
    raw.sync().hdel(slot(3) + ":claim", owner(3));
    raw.sync().zrem(slot(3) + ":lease", owner(3));
    // 4: a session that Redis does not know
    raw.sync().del(slot(4) + ":own:" + owner(4));
    // 5: due in a hundred years
    raw.sync().zadd(slot(5) + ":due", 4e12, entry(5));
    // 6: somebody else's text for a session
    raw.sync().set(slot(6) + ":own:" + owner(6), "hello");
    // nobody's
    raw.sync().zadd(slot(1) + ":lease", 9e15, owner(101));
    raw.sync().hset(slot(1) + ":claim", owner(102), "t.9 " + GONE + " 1 0 0 w9");
    raw.sync().hset(slot(1) + ":claim", owner(103), "- " + GONE + " 1 0 0 w9");
    raw.sync().sadd(slot(1) + ":closing", owner(104));
    raw.sync().sadd(slot(1) + ":healing", owner(105));
    raw.sync().sadd(slot(1) + ":stale", slot(1) + ":dirty:" + owner(106) + ":" + GONE);
    raw.sync()
        .hset(slot(1) + ":inboxes:" + owner(1), owner(1) + "!deadbeef", SENT + "deadbeef00000000");
    raw.sync().del(slot(8) + ":inboxes:" + owner(8));
    raw.sync().set(slot(107) + ":own:" + owner(107), GONE);
    raw.sync().lpush(slot(1) + ":ready", owner(108) + ":" + GONE);
    raw.sync().zadd(slot(1) + ":due", 1, owner(109) + ":" + GONE);
    raw.sync().zadd(slot(1) + ":due", 1, "rubbish");
    raw.sync().hset(slot(1) + ":claim", owner(110), "rubbish");
    // messages of a topic
    String mail = "{" + game.namespace + ":0}:t:mail:";
    raw.sync().hset(game.namespace + ":topics", "mail", "0000000000000001 {\"slots\":1}");
    raw.sync().hset(mail + "msg", "timeless", "0000000000000001");
    raw.sync().hset(mail + "msg", "g:timeless", "0000000000000001");
    raw.sync().zadd(mail + "lane:h", 1, "h:first");
    raw.sync().hset(mail + "held", "unclaimed", "0000000000000001");
    raw.sync().hset(mail + "held", "leaseless", "0000000000000001");
    raw.sync().hset(mail + "claim", "leaseless", "t leaseless 1 0 1 n");
    raw.sync().zadd(mail + "due", 1, "empty");
    raw.sync().hset(stale(1), "item:1,77", "0000000000000001p");
    raw.sync().hset("{" + game.namespace + ":900}:dirty:" + owner(1) + ":" + GONE, "item:1", "x");
  }

  /** Of a session before the one that owns. */
  private String stale(int player) {
    return slot(player) + ":dirty:" + owner(player) + ":0000000000000000-deadbeef00000001";
  }

  private Set<FindingKind> found(Diagnosis diagnosis) {
    return diagnosis.found().keySet();
  }

  @Test
  void allThatIsBrokenIsNamedAndWhatNeedsNoHandIsMended() throws Exception {
    try (GameQueue queue =
        GameQueue.open(game.config("n1").mergeWindow(Duration.ofMinutes(5)).build())) {
      for (int player = 1; player <= 7; player++) {
        OwnerSession session = queue.open("player:" + player);
        session.put(new Item(player, 1, player));
        session.commit().awaitQueued(LONG);
      }
      queue.send("player:1", new Item(1, 8, 1)).awaitQueued(LONG);
      queue.send("player:8", new Item(8, 8, 1)).awaitQueued(LONG);
      String mark = "n9-20260101T000000Z-deadbeef"; // of a node that was closed after a publish
      raw.sync().hset(slot(1) + ":journal", mark, "7");
      assertEquals(Set.of(), found(examine()));
      List<String> before = rows();
      breakAll();
      Diagnosis broken = examine();
      Set<FindingKind> all = EnumSet.allOf(FindingKind.class);
      assertEquals(all, found(broken), broken::toString);
      CommandLineRun told =
          ConfigFile.write(directory, game.database.server(), game.namespace, Game.SLOTS)
              .run("doctor --again-after 1");
      assertEquals(ExitCodes.FOUND_SOMETHING, told.exitCode(), told::toString);
      for (FindingKind ailment : all) {
        assertTrue(told.out().contains(ailment.title()), told::out);
      }
      Set<FindingKind> repaired = doctor.repair(broken, game.mysql, ACTOR).keySet();
      Set<FindingKind> mended =
          EnumSet.of(FindingKind.UNOWNED, FindingKind.DUE_FAR_OFF, FindingKind.HEALING_LEFTOVER);
      assertEquals(mended, repaired);
      all.removeAll(mended);
      assertEquals(all, found(examine()));
      assertTrue(rows().containsAll(before), "a row was lost");
      assertEquals(
          "doctor repair", AuditTable.newest(game.mysql, Long.MAX_VALUE, 1).get(0).action());
    }
  }

  @Test
  void aSessionThatRedisLostIsToldAgainAndRowsThatAreDueFarOffReachMySql() throws Exception {
    try (GameQueue queue =
        GameQueue.open(game.config("n1").mergeWindow(Duration.ofMinutes(5)).build())) {
      for (int player = 4; player <= 5; player++) {
        OwnerSession session = queue.open("player:" + player);
        session.put(new Item(player, 1, player));
        session.commit().awaitQueued(LONG);
      }
      raw.sync().del(slot(4) + ":own:" + owner(4));
      raw.sync().zadd(slot(5) + ":due", 4e12, entry(5));
      CommandLineRun run =
          ConfigFile.write(directory, game.database.server(), game.namespace, Game.SLOTS)
              .run("doctor --repair --yes --again-after 1");
      assertEquals(ExitCodes.OK, run.exitCode(), run::toString);
      try (WriterService writer = game.writer("w1")) {
        await().atMost(LONG).until(() -> count() == 2);
      }
    }
  }

  /** Each row's key and image, wherever it is. */
  private List<String> rows() {
    TreeSet<String> rows = new TreeSet<>();
    for (String key : raw.sync().keys("{" + game.namespace + ":*")) {
      if ((key.contains(":dirty:") || key.contains(":claimed:"))
          && raw.sync().type(key).equals("hash")) {
        raw.sync().hgetall(key).forEach((field, row) -> rows.add(field + " " + row));
      }
    }
    return new ArrayList<>(rows);
  }

  private int count() throws Exception {
    return Integer.parseInt(game.queryText("SELECT COUNT(*) FROM item"));
  }

  /** Waiting, taken next, claimed, and given back. */
  @Test
  void anInboxIsHealthyWhereverItIsOnItsWay() throws Exception {
    try (GameQueue queue =
        GameQueue.open(game.config("n1").mergeWindow(Duration.ofMinutes(5)).build())) {
      OwnerSession holder = queue.open("player:1");
      queue.send("player:1", new Item(1, 1, 1)).awaitQueued(LONG);
      queue.send("player:2", new Item(2, 1, 2)).awaitQueued(LONG);
      assertHealthy();
      String inbox = raw.sync().hkeys(slot(2) + ":inboxes:" + owner(2)).get(0);
      String session = SENT + inbox.substring(inbox.indexOf('!') + 1) + "00000000";
      raw.sync().zrem(slot(2) + ":due", inbox + ":" + session);
      raw.sync().lpush(slot(2) + ":ready", inbox + ":" + session);
      assertHealthy();
      raw.sync().lpop(slot(2) + ":ready");
      raw.sync().rename(slot(2) + ":dirty:" + inbox + ":" + session, slot(2) + ":claimed:" + inbox);
      raw.sync().hset(slot(2) + ":claim", inbox, "t.2 " + session + " 1 0 0 w9");
      raw.sync().zadd(slot(2) + ":lease", 9e15, inbox);
      raw.sync().lpush(slot(2) + ":inflight:w9", inbox + ":" + session);
      assertHealthy();
      raw.sync().zadd(slot(2) + ":lease", 1, inbox); // its writer is gone: another takes it back
      try (WriterService writer = game.writer("w1")) {
        await().atMost(LONG).until(() -> count() == 1);
        assertHealthy();
      }
      assertEquals(List.of(new Item(1, 1, 1)), holder.current(Item.class));
    }
  }

  private void assertHealthy() throws InterruptedException {
    Diagnosis found = examine();
    assertEquals(Map.of(), found.found());
  }

  @Test
  void aLookKeepsToItsRate() throws Exception {
    ConfigFile config =
        ConfigFile.write(directory, game.database.server(), game.namespace, Game.SLOTS);
    for (int player = 1; player <= 300; player++) { // each a key, and a session
      raw.sync().set(slot(player) + ":own:" + owner(player), GONE);
    }
    game.node("n1").close();
    long begunNanos = System.nanoTime();
    CommandLineRun run = config.run("doctor --again-after 1 --rate 200");
    Duration took = Duration.ofNanos(System.nanoTime() - begunNanos);
    assertEquals(ExitCodes.OK, run.exitCode(), run::toString); // `nodes` tells of their node
    assertTrue(took.toMillis() > 3_000, "a page of 500 things, then 200 a second: " + took);
    assertTrue(config.run("doctor --rate -1").err().contains("--rate is -1"));
  }

  @Test
  void whatIsHealthyIsLeftAloneUnderLoad() throws Exception {
    AtomicBoolean stop = new AtomicBoolean();
    try (GameQueue queue = game.node("n1");
        WriterService writer = game.writer("w1", 2_000)) {
      List<OwnerSession> sessions = new ArrayList<>();
      for (int player = 1; player <= 20; player++) {
        sessions.add(queue.open("player:" + player));
      }
      Thread load =
          new Thread(
              () -> {
                for (int i = 0; !stop.get(); i++) {
                  OwnerSession session = sessions.get(i % sessions.size());
                  session.put(new Item(i % sessions.size() + 1, i % 7, i));
                  session.commit();
                  if (i % 50 == 0) {
                    Thread.onSpinWait();
                  }
                }
              });
      load.start();
      try {
        for (int i = 0; i < 5; i++) {
          Diagnosis found = examine();
          assertEquals(Map.of(), found.found());
        }
        CommandLineRun run =
            ConfigFile.write(directory, game.database.server(), game.namespace, Game.SLOTS)
                .run("doctor --repair --yes --again-after 1");
        assertEquals(ExitCodes.OK, run.exitCode(), run::toString);
        assertEquals(List.of(), AuditTable.newest(game.mysql, Long.MAX_VALUE, 1));
      } finally {
        stop.set(true);
        load.join();
      }
    }
  }
}
