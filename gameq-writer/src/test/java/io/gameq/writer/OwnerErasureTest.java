package io.gameq.writer;

import static io.gameq.servers.Waits.LONG;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.gameq.Conflict;
import io.gameq.GameQueue;
import io.gameq.OwnerSession;
import io.gameq.OwnershipLostException;
import io.gameq.change.VersionClock;
import io.gameq.mysql.tables.OwnerTable;
import io.gameq.owner.OwnerId;
import io.gameq.owner.SessionId;
import io.gameq.redis.RedisClock;
import io.gameq.redis.RedisConnection;
import io.gameq.redis.RedisConnector;
import io.gameq.redis.RedisConnector.RedisConfig;
import io.gameq.redis.SlotKeys;
import io.gameq.redis.script.SessionScripts;
import io.gameq.servers.FaultProxy;
import io.gameq.servers.GameDatabase;
import io.gameq.servers.TestServers;
import io.gameq.terminal.ExitCodes;
import io.gameq.writer.mysql.OwnerDeletion;
import io.gameq.writer.service.WriterService;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.Statement;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** All that gameq holds of an owner is shown, and erased so that nothing brings it back. */
@Execution(ExecutionMode.CONCURRENT)
class OwnerErasureTest {
  record Hero(long playerId, String name) {}

  record Pet(long id, long playerId, int weight) {}

  record Fan(long id, long guildId, long heroId) {}

  @TempDir Path directory;

  private final RedisConnector connector =
      new RedisConnector(new RedisConfig(TestServers.adminRedisUri()));
  private final RedisConnection redis = connector.open();
  private final FaultProxy proxy = FaultProxy.ofRedis();
  private final Queue<Conflict> conflicts = new ConcurrentLinkedQueue<>();
  private Game game;
  private ConfigFile config;
  private TopicPlay topics;

  @BeforeEach
  void start() throws Exception {
    GameDatabase database =
        GameDatabase.create("erase")
            .table(
                "hero",
                "player",
                "player_id",
                "player_id BIGINT NOT NULL PRIMARY KEY, name VARCHAR(20) NOT NULL")
            .table(
                "pet",
                "player",
                "player_id",
                "id BIGINT NOT NULL PRIMARY KEY, player_id BIGINT NOT NULL, weight INT NOT NULL,"
                    + " KEY (player_id), CONSTRAINT light CHECK (weight < 5000), CONSTRAINT master"
                    + " FOREIGN KEY (player_id) REFERENCES hero (player_id)")
            .table(
                "fan",
                "guild",
                "guild_id",
                "id BIGINT NOT NULL PRIMARY KEY, guild_id BIGINT NOT NULL, hero_id BIGINT NOT NULL,"
                    + " CONSTRAINT idol FOREIGN KEY (hero_id) REFERENCES hero (player_id) ON DELETE"
                    + " CASCADE");
    game = new Game(database, directory.resolve("wal"));
    config = ConfigFile.write(directory, database.server(), game.namespace, Game.SLOTS);
    topics = new TopicPlay(game);
    topics.define("mail", 0);
  }

  @AfterEach
  void stop() throws Exception {
    topics.close();
    proxy.close();
    connector.close();
    game.close();
  }

  private CommandLineRun run(int exitCode, String command) {
    CommandLineRun run = config.run(command);
    System.out.println("$ gameq-writer " + command + "\n" + run.out() + run.err());
    assertEquals(exitCode, run.exitCode(), () -> run.out() + run.err());
    return run;
  }

  private static void assertHas(String text, String... parts) {
    for (String part : parts) {
      assertTrue(text.contains(part), () -> "no '" + part + "' in\n" + text);
    }
  }

  private String count(String what) throws Exception {
    return game.queryText("SELECT COUNT(*) FROM " + what);
  }

  private GameQueue nodeBehindProxy() {
    return GameQueue.open(game.config("n1").redis(proxy.uri()).onConflict(conflicts::add).build());
  }

  private static void hero(OwnerSession player, long id, long... pets) {
    player.put(new Hero(id, "secret-" + id));
    for (long pet : pets) {
      player.put(new Pet(pet, id, 7));
    }
    player.commit().awaitDurable(LONG);
  }

  private void publish(String owner) {
    topics.publish("mail", null, owner, 3_600_000, "secret-mail".getBytes(UTF_8));
    topics.publish("mail", owner, "a", 3_600_000, "secret-mail".getBytes(UTF_8));
    topics.publish("mail", "guild:1", owner, 0, "secret-mail".getBytes(UTF_8));
    topics.die("mail", "no");
  }

  private String redisKeysOf(String owner) {
    String name = owner.replace(":", "%3A");
    return redis.sync().keys("*" + game.namespace + "*" + name + "*").stream()
        .map(key -> new String(key, UTF_8))
        .filter(key -> !key.contains(":own:") && !key.matches(".*" + name + "\\d.*"))
        .toList()
        .toString();
  }

  private static void copy(Path from, Path to) throws IOException {
    try (Stream<Path> all = Files.walk(from)) {
      for (Path path : all.toList()) {
        Files.copy(path, to.resolve(from.relativize(path)));
      }
    }
  }

  @Test
  void whatWasErasedComesBackNeitherByItsNodeNorByAFailoverNorByAReplay() throws Exception {
    RedisContents before;
    try (GameQueue other = game.node("n2")) {
      try (GameQueue node = nodeBehindProxy()) {
        OwnerSession player = node.open("player:1");
        OwnerSession friend = other.open("player:12");
        try (WriterService writer = game.writer("w1")) {
          hero(player, 1, 10, 11);
          hero(friend, 12, 20);
          hero(node.open("player:5"), 5);
          player.delete(Pet.class, 11L);
          player.commit().awaitDurable(LONG);
          player.put(new Pet(13, 1, 6_000));
          player.commit().awaitQueued(LONG);
          await().atMost(LONG).until(() -> writer.stats().deadLetters() == 1);
        }
        player.put(new Hero(1, "secret-new"));
        player.put(new Pet(14, 1, 8));
        player.commit().awaitQueued(LONG);
        other.send("player:1", new Pet(15, 1, 9)).awaitQueued(LONG);
        publish("player:1");
        publish("player:12");
        game.database
            .server()
            .execute(
                "INSERT INTO gameq_handled VALUES ('mail', 'player%3A1:b', 1, 0, 't', 1,"
                    + " UTC_TIMESTAMP(3)), ('mail', 'player%3A12:b', 1, 0, 't', 1,"
                    + " UTC_TIMESTAMP(3))");
        JsonNode all =
            new ObjectMapper().readTree(run(ExitCodes.OK, "export player:1 --json").out());
        assertEquals("secret-new", all.path("rows").path("hero").path(0).path("name").asText());
        assertEquals(3, all.path("rows").path("pet").size());
        assertEquals(3, all.path("waiting").size());
        assertEquals(
            "6000", all.path("deadLetters").path(0).path("columns").path("weight").asText());
        assertEquals(3, all.path("messages").size());
        assertEquals("pet", all.path("tombstones").path(0).path("table").asText());
        assertEquals(1, all.path("handled").size());
        assertEquals("player%3A1:b", all.path("handled").path(0).path("id").asText());
        assertEquals("n1", all.path("sessions").path(0).path("node").asText());
        assertTrue(all.path("redisKeys").size() >= 3, all::toString);
        assertEquals(1, all.path("auditEntries").size());

        String kept = run(ExitCodes.FOUND_SOMETHING, "erase player:1 --yes --timeout 2").out();
        assertHas(kept, "left: it is open on node n1, which is alive", "--close", "--take-over");
        assertHas(
            run(ExitCodes.FOUND_SOMETHING, "erase player:1 --dry-run").out(),
            "would be erased: 2 rows (1 hero, 1 pet), 3 rows on their way, 1 dead letter, 3"
                + " messages; it is open on node n1");
        String waits =
            run(ExitCodes.FOUND_SOMETHING, "erase player:1 --yes --take-over --timeout 1").out();
        assertHas(waits, "left: rows were not written within 1 s");
        assertEquals("1", count("hero WHERE player_id = 1"), "nothing is half done");
        before = RedisContents.of(redis, game.namespace);
        copy(directory.resolve("wal"), directory.resolve("left")); // as if n1 had died here
        proxy.refuse(true);
        proxy.cut();
        try (WriterService writer = game.writer("w2", 2_000)) {
          assertHas(
              run(ExitCodes.OK, "erase player:1 --yes --take-over").out(),
              "player:1: erased: 4 rows (1 hero, 3 pet), 1 dead letter, 3 messages",
              "1 of 1 owner erased");
          assertHas(run(ExitCodes.OK, "erase player:1 --yes").out(), "player:1: nothing is left");
          assertEquals("[]", redisKeysOf("player:1"));
          JsonNode after =
              new ObjectMapper().readTree(run(ExitCodes.OK, "export player:1 --json").out());
          assertFalse(after.toString().contains("secret"), after::toString);
          assertEquals(5, after.path("tombstones").size());
          before.restore(); // a failover to a replica that was behind
          proxy.refuse(false);
          assertThrows(
              OwnershipLostException.class,
              () -> {
                player.put(new Pet(16, 1, 8));
                player.commit().awaitQueued(LONG);
              });
          await().atMost(LONG).until(() -> writer.stats().stale() > 0);
          assertEquals("0", count("hero WHERE player_id = 1"));
          assertEquals("0", count("pet WHERE player_id = 1"));
          assertHas(
              run(ExitCodes.OK, "erase player:1 --yes").out(),
              "session with stale rows",
              "3 messages");
        }
      }
      RedisContents.empty(redis, game.namespace).restore();
      game.database.server().execute("DELETE FROM hero WHERE player_id = 5");
      try (WriterService writer = game.writer("w3");
          GameQueue again =
              GameQueue.open(game.config("n1").walDirectory(directory.resolve("left")).build())) {
        await().atMost(LONG).until(() -> count("hero WHERE player_id = 5").equals("1")); // replayed
        assertEquals("0", count("pet WHERE player_id = 1"));
        assertEquals(List.of(), again.read("player:1", Pet.class));
        assertEquals("0", count("hero WHERE player_id = 1"));
        OwnerSession anew = again.open("player:1");
        assertEquals(List.of(), anew.rows(Pet.class));
        hero(anew, 1, 10);
        assertEquals("1", count("pet WHERE id = 10 AND player_id = 1"));
        assertEquals(1, again.read("player:12", Pet.class).size());
        assertTrue(writer.stats().deadLetters() == 0);
      }
    }
    assertEquals("0", count("gameq_audit WHERE action = 'erase' AND target LIKE '%player%'"));
    assertEquals("1", count("hero WHERE player_id = 12"));
  }

  @Test
  void messagesAndRowsOfOthersStay() throws Exception {
    try (WriterService writer = game.writer("w1");
        GameQueue queue = game.node("n1")) {
      try (OwnerSession player = queue.open("player:1");
          OwnerSession other = queue.open("player:12")) {
        hero(player, 1, 10);
        hero(other, 12, 20);
      }
      publish("player:12");
      topics.publish("mail", null, "1", 3_600_000, "secret-mail".getBytes(UTF_8));
      assertHas(
          run(ExitCodes.OK, "erase player:1 player:2 --yes").out(),
          "player:1: erased: 2 rows (1 hero, 1 pet)\n",
          "player:2: nothing is left",
          "2 of 2 owners erased");
      assertEquals("1", count("pet"));
      assertHas(
          run(ExitCodes.OK, "erase player:1 --yes --message-key 1").out(), "0 rows, 1 message");
      assertEquals(
          3,
          new ObjectMapper()
              .readTree(run(ExitCodes.OK, "export player:12 --json").out())
              .path("messages")
              .size());
      assertEquals(0, writer.stats().deadLetters());
      run(ExitCodes.COULD_NOT_RUN, "erase player:1"); // nobody to ask
      run(ExitCodes.COULD_NOT_RUN, "erase palyer:1 --yes");
    }
  }

  @Test
  void rowsOfAnotherOwnerThatReferToItsRowsAreNamedAndNothingIsErased() throws Exception {
    try (WriterService writer = game.writer("w1");
        GameQueue queue = game.node("n1")) {
      OwnerSession guild = queue.open("guild:3");
      try (OwnerSession player = queue.open("player:1")) {
        hero(player, 1, 10);
        guild.put(new Fan(7, 3, 1));
        guild.commit().awaitDurable(LONG);
      }
      assertHas(
          run(ExitCodes.FOUND_SOMETHING, "erase player:1 --yes").out(),
          "left: row fan:7 of guild:3 refers to its rows (foreign key idol): delete or move it");
      assertEquals("1", count("pet"));
      assertEquals("0", count("gameq_tombstone"));
      guild.delete(Fan.class, 7L);
      guild.commit().awaitDurable(LONG);
      assertHas(run(ExitCodes.OK, "erase player:1 --yes").out(), "erased: 2 rows");
      assertEquals(0, writer.stats().deadLetters());
    }
  }

  @Test
  void anErasureThatWasKilledOnceItsRowsWereGoneIsFinishedByTheNextOne() throws Exception {
    OwnerId owner = OwnerId.of("player:1");
    SlotKeys slot = new SlotKeys(game.namespace, owner.slot(Game.SLOTS));
    try (WriterService writer = game.writer("w1");
        GameQueue queue = game.node("n1")) {
      try (OwnerSession player = queue.open("player:1")) {
        hero(player, 1, 10);
      }
      publish("player:1");
      OwnerTable owners = new OwnerTable(game.mysql);
      SessionId killed = owners.raise(owner, "00000000deadbeef", "(erased)", 0);
      assertHas(
          new OwnerDeletion(game.mysql)
              .delete(owner, new SessionId(1, "0000000000000001"), clock())
              .obstacles()
              .toString(),
          "somebody opened it meanwhile");
      SessionScripts.Outcome unused = SessionScripts.open(redis, slot, owner, killed, 0, false);
      assertTrue(owners.markOpen(owner, killed));
      assertEquals(
          Map.of("hero", 1L, "pet", 1L),
          new OwnerDeletion(game.mysql).delete(owner, killed, clock()).rows());
      assertHas(run(ExitCodes.OK, "erase player:1 --yes").out(), "erased: 0 rows, 3 messages");
      assertHas(run(ExitCodes.OK, "erase player:1 --yes").out(), "player:1: nothing is left");
      assertTrue(redis.sync().pttl(slot.own(owner)) > 0);
      assertEquals(0, writer.stats().deadLetters());
    }
  }

  private VersionClock clock() {
    return new VersionClock(() -> RedisClock.now(redis));
  }

  @Test
  void aClaimThatIsInFlightIsWaitedFor() throws Exception {
    try (WriterService writer = game.writer("w1");
        GameQueue queue = game.node("n1");
        Connection lock = game.mysql.connection()) {
      OwnerSession player = queue.open("player:1");
      lock.setAutoCommit(false);
      try (Statement statement = lock.createStatement()) {
        statement.execute("SELECT * FROM gameq_owner WHERE owner LIKE 'player%' FOR UPDATE");
      }
      player.put(new Hero(1, "secret-1"));
      player.commit().awaitQueued(LONG);
      player.close();
      await().atMost(LONG).until(() -> redisKeysOf("player:1").contains(":claimed:"));
      assertHas(
          run(ExitCodes.FOUND_SOMETHING, "erase player:1 --yes --timeout 1").out(),
          "left: a row was not written within 1 s");
      lock.rollback();
      assertHas(run(ExitCodes.OK, "erase player:1 --yes").out(), "erased: 1 row (1 hero)");
      assertEquals("0", count("hero"));
      assertEquals(0, writer.stats().deadLetters());
    }
  }

  @Test
  void theHolderIsAskedToCloseFirst() throws Exception {
    try (WriterService writer = game.writer("w1");
        GameQueue queue = game.node("n1")) {
      OwnerSession player = queue.open("player:1");
      hero(player, 1);
      player.put(new Pet(10, 1, 3));
      var unused = player.askedToClose().thenRun(player::close);
      assertHas(
          run(ExitCodes.OK, "erase player:1 --yes --close").out(),
          "erased: 2 rows (1 hero, 1 pet)");
      assertEquals("0", count("hero"));
      assertEquals(0, writer.stats().deadLetters());
    }
  }
}
