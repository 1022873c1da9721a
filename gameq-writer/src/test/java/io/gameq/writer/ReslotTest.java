package io.gameq.writer;

import static io.gameq.servers.Waits.LONG;
import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.gameq.GameQueue;
import io.gameq.GameQueueException;
import io.gameq.OwnerSession;
import io.gameq.mysql.schema.Settings;
import io.gameq.mysql.tables.AuditTable;
import io.gameq.mysql.tables.NodeTable;
import io.gameq.mysql.tables.OwnerTable;
import io.gameq.mysql.tables.TermTable;
import io.gameq.owner.OwnerId;
import io.gameq.owner.SessionId;
import io.gameq.redis.ControlConnection;
import io.gameq.redis.PrimaryConnector;
import io.gameq.redis.RedisConnector;
import io.gameq.redis.RedisConnector.RedisConfig;
import io.gameq.redis.SlotKeys;
import io.gameq.redis.script.NodeSigns;
import io.gameq.redis.script.NodeSigns.ProcessSigns;
import io.gameq.rights.MySqlRights.Role;
import io.gameq.servers.GameDatabase;
import io.gameq.servers.TestServers;
import io.gameq.topic.Publish;
import io.gameq.topic.Topic;
import io.gameq.topic.TopicAdmin;
import io.gameq.topic.TopicOptions;
import io.gameq.writer.doctor.ReslotCommand.SlotChange;
import io.gameq.writer.redis.SlotContents;
import io.gameq.writer.service.WriterService;
import io.lettuce.core.api.StatefulRedisConnection;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** Another number of slots. */
@Execution(ExecutionMode.CONCURRENT)
class ReslotTest {
  private static final AuditTable.Actor ACTOR = new AuditTable.Actor("ann", "test");
  private static final int SLOTS = 32;

  record Item(long playerId, int slot, int count) {}

  @TempDir Path directory;

  private Game game;
  private RedisConnector connector;
  private ControlConnection redis;
  private StatefulRedisConnection<String, String> raw;
  private SlotChange change;
  private int pages;

  @BeforeEach
  void start() throws Exception {
    GameDatabase database =
        GameDatabase.create("reslot")
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
    change =
        new SlotChange(
            game.namespace, redis, game.mysql, Duration.ofSeconds(1), () -> of -> pages++);
  }

  @AfterEach
  void stop() {
    raw.close();
    redis.close();
    connector.close();
    game.close();
  }

  private static OwnerSession commit(GameQueue queue, int player, int count) throws Exception {
    OwnerSession session = queue.open("player:" + player);
    session.put(new Item(player, 1, count));
    session.commit().awaitQueued(LONG);
    return session;
  }

  private String own(int player, int slots) {
    OwnerId owner = OwnerId.of("player:" + player);
    return new String(new SlotKeys(game.namespace, owner.slot(slots)).own(owner), US_ASCII);
  }

  /** Nobody has given a sign of life for a second. */
  private void silence() {
    raw.sync().del(game.namespace + ":nodes");
    await().atMost(LONG).until(() -> !change.obstacles(true).toString().contains("a sign of life"));
  }

  private void refuses(String reason) {
    String obstacles = change.obstacles(false).toString();
    assertTrue(obstacles.contains(reason), obstacles);
    GameQueueException e =
        assertThrows(GameQueueException.class, () -> change.run(SLOTS, false, ACTOR, text -> {}));
    assertTrue(String.valueOf(e.getMessage()).contains(reason), e::toString);
    assertEquals(Game.SLOTS, Settings.slots(game.mysql));
  }

  @Test
  void aDrainedGameGoesOnWithAnotherNumber() throws Exception {
    try (GameQueue queue = game.node("n1")) {
      for (int player = 1; player <= 9; player++) {
        commit(queue, player, 1).close();
      }
      refuses("a node or writer gave a sign of life");
      try (WriterService writer = game.writer("w1")) {
        queue.drain(LONG);
      }
    }
    silence();
    assertEquals(List.of(), change.obstacles(false));
    SlotChange.ReslotReport done = change.run(SLOTS, false, ACTOR, System.out::println);
    assertTrue(done.moved() > 0, done::toString);
    assertTrue(raw.sync().pttl(own(1, SLOTS)) > 0, "closed sessions are remembered");
    assertEquals(SLOTS, Settings.slots(game.mysql));
    assertTrue(
        assertThrows(GameQueueException.class, () -> game.node("n2"))
            .getMessage()
            .contains("use " + SLOTS));
    try (GameQueue queue = GameQueue.open(game.config("n1").slots(SLOTS).build())) {
      commit(queue, 1, 2);
      assertTrue(raw.sync().exists(own(1, SLOTS)) == 1);
    }
  }

  /** A process that stood still all the while. */
  @Test
  void whoComesBackWithTheOldNumberConnectsNoMore() throws Exception {
    try (GameQueue queue = game.node("n1");
        WriterService writer = game.writer("w1")) {
      commit(queue, 1, 1).close();
      queue.drain(LONG);
    }
    silence();
    PrimaryConnector old = new PrimaryConnector(connector, new TermTable(game.mysql, Game.SLOTS));
    PrimaryConnector.Opened before = old.open();
    before.redis().close();
    change.run(SLOTS, false, ACTOR, text -> {});
    assertTrue(!old.isCurrent(before.term(), before.address()), "it has to connect anew");
    assertTrue(
        assertThrows(GameQueueException.class, old::open)
            .getMessage()
            .contains("the database has 32 slots now, this process was started with 4"));
  }

  @Test
  void whatIsNotDrainedStandsAgainstIt() throws Exception {
    GameQueue queue = game.node("n1");
    commit(queue, 1, 1);
    String process = NodeSigns.process(session(1));
    queue.close();
    raw.sync().del(game.namespace + ":node:" + process);
    silence();
    refuses("of rows on their way");
    try (WriterService writer = game.writer("w1")) {
      await().atMost(LONG).until(() -> writer.stats().rows() == 1);
    }
    refuses("1 node not closed with everything in MySQL (n1 ");
    assertTrue(new NodeTable(game.mysql).remove(process)); // as nodes --forget
    ProcessSigns signs = new ProcessSigns(game.namespace);
    assertEquals(true, redis.call(of -> signs.forget(of, process)));
    refuses("1 session not closed (player:1)");
    SlotChange.ReslotReport done = change.run(SLOTS, true, ACTOR, text -> {});
    assertEquals(1, done.ended(), done::toString);
    assertEquals("reslot", game.queryText("SELECT node FROM gameq_owner"));
  }

  @Test
  void whatWasSentIsWrittenBeforeAndFoundAfterwards() throws Exception {
    GameQueue sender = game.node("n1");
    for (int player = 1; player <= 9; player++) {
      sender.send("player:" + player, new Item(player, 1, player)).awaitQueued(LONG);
    }
    try (sender) {
      assertTrue(change.obstacles(true).toString().contains("of rows on their way"));
      try (WriterService writer = game.writer("w1")) {
        assertEquals(Set.of(), sender.drain(LONG));
      }
    }
    String gone = "{" + game.namespace + ":1}:sent:deadbeef";
    raw.sync()
        .hset(
            gone,
            "player%3A1 0000000000000001-deadbeef00000001 item:1,1",
            "00000000000000001deadbeef");
    silence();
    assertEquals(List.of(), change.obstacles(false));
    SlotChange.ReslotReport done = change.run(SLOTS, false, ACTOR, text -> {});
    assertEquals(0, done.left().count(), done::toString);
    try (GameQueue queue = GameQueue.open(game.config("n1").slots(SLOTS).build())) {
      for (int player = 1; player <= 9; player++) {
        queue.send("player:" + player, new Item(player, 2, player)).awaitQueued(LONG);
        assertEquals(2, queue.open("player:" + player).rows(Item.class).size());
      }
    }
  }

  @Test
  void messagesOfOwnersReachTheirSessionsAfterwards() throws Exception {
    record Sale(int gold) {}
    TopicOptions ofOwners = TopicOptions.DEFAULT.ofOwners().slots(Game.SLOTS);
    try (GameQueue queue = game.node("n1")) {
      Topic<Sale> sales = queue.topic("sale", Sale.class, ofOwners);
      try (OwnerSession held = queue.open("player:1")) { // who handled them before
        held.handle(sales, Runnable::run, (owner, sale, tx) -> {});
      }
      for (int player = 1; player <= 9; player++) {
        sales
            .publish(Publish.of("s", new Sale(player)).owner("player:" + player))
            .awaitQueued(LONG);
      }
    }
    silence();
    SlotChange.ReslotReport done = change.run(SLOTS, false, ACTOR, text -> {});
    assertEquals(0, done.left().count(), done::toString);
    assertEquals(List.of(), raw.sync().keys("{" + game.namespace + ":*}:journal"));
    try (GameQueue queue = GameQueue.open(game.config("n1").slots(SLOTS).build())) {
      Topic<Sale> sales = queue.topic("sale", Sale.class, ofOwners);
      for (int player = 1; player <= 9; player++) {
        int one = player;
        OwnerSession session = queue.open("player:" + player);
        session.handle(
            sales,
            Runnable::run,
            (owner, sale, tx) -> tx.put(new Item(one, 1, sale.payload().gold())));
        await().atMost(LONG).until(() -> !queue.read("player:" + one, Item.class).isEmpty());
        assertEquals(List.of(new Item(one, 1, one)), queue.read("player:" + one, Item.class));
      }
      await().atMost(LONG).until(() -> sales.counts().equals(new TopicAdmin.Counts(0, 0, 0, 0)));
    }
  }

  private SessionId session(int player) {
    return SessionId.parse(raw.sync().get(own(player, Game.SLOTS)));
  }

  /** More players than a page of keys takes: one in ten is of a node that is gone. */
  @Test
  void sessionsAreEndedAndMovedPageByPage() throws Exception {
    int players = 1_000;
    game.node("n1").close();
    for (int player = 1; player <= players; player++) {
      OwnerId owner = OwnerId.of("player:" + player);
      SessionId session = new SessionId(1, "aaaaaaaa00000001");
      raw.sync().set(own(player, Game.SLOTS), session.text());
      if (player % 10 > 0) { // closed
        raw.sync().pexpire(own(player, Game.SLOTS), 3_600_000);
      }
      SessionId unused = new OwnerTable(game.mysql).raise(owner, "aaaaaaaa00000001", "n1", 0);
    }
    game.database.server().execute("UPDATE gameq_owner SET state = 'open'");
    raw.sync().set("{" + game.namespace + ":0}:aside:1", "x");
    silence();
    refuses("100 sessions not closed (player:");
    pages = 0;
    SlotChange.ReslotReport done = change.run(SLOTS, true, ACTOR, text -> {});
    assertTrue(pages >= 4 * players / SlotContents.PAGE, "pages: " + pages);
    assertEquals(100, done.ended(), done::toString);
    assertEquals("100", game.queryText("SELECT COUNT(*) FROM gameq_owner WHERE node = 'reslot'"));
    assertEquals("{" + game.namespace + ":0}:aside:1", done.left().toString());
    int moved = 0;
    for (int player = 1; player <= players; player++) {
      int was = OwnerId.of("player:" + player).slot(Game.SLOTS);
      boolean moves = player % 10 > 0 && OwnerId.of("player:" + player).slot(SLOTS) != was;
      moved += moves ? 1 : 0;
      assertEquals(
          player % 10 > 0 ? 1 : 0, raw.sync().exists(own(player, SLOTS)), own(player, SLOTS));
      assertTrue(!moves || raw.sync().exists(own(player, Game.SLOTS)) == 0);
    }
    assertEquals(moved, done.moved());
  }
}
