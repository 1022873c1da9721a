package io.gameq.writer;

import static io.gameq.servers.Waits.LONG;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.gameq.GameQueue;
import io.gameq.OwnerSession;
import io.gameq.redis.RedisConnection;
import io.gameq.redis.RedisConnector;
import io.gameq.redis.RedisConnector.RedisConfig;
import io.gameq.redis.script.NodeSigns.ProcessSigns;
import io.gameq.servers.GameDatabase;
import io.gameq.servers.TestServers;
import io.gameq.sign.NodeSign;
import io.gameq.sign.ProcessIdentity;
import io.gameq.sign.Protocol.ProtocolRange;
import io.gameq.sign.SignFields;
import io.gameq.terminal.ExitCodes;
import io.gameq.writer.service.WriterService;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What nodes and writers say of themselves, as operators see it. */
class ProcessesTest {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final String GONE = "0badcafe";

  record Item(long playerId, int slot, int count) {}

  @TempDir Path directory;

  private static GameDatabase database;
  private Game game;
  private ConfigFile config;

  @BeforeAll
  static void create() throws Exception {
    database =
        GameDatabase.create("processes")
            .table(
                "item",
                "player",
                "player_id",
                "player_id BIGINT NOT NULL, slot INT NOT NULL, count INT NOT NULL, PRIMARY KEY"
                    + " (player_id, slot)");
  }

  @BeforeEach
  void start() throws Exception {
    database.server().execute("DELETE FROM gameq_setting WHERE name = 'namespace'");
    game = new Game(database, directory);
    config = ConfigFile.write(directory, database.server(), game.namespace, Game.SLOTS);
  }

  @AfterEach
  void stop() {
    game.close();
  }

  private CommandLineRun run(String command) {
    CommandLineRun run = config.run(command);
    System.out.println("$ gameq-writer " + command + "\n" + run.out() + run.err());
    return run;
  }

  private JsonNode json(String command) throws Exception {
    List<String> lines = run(command + " --json").out().lines().toList();
    assertEquals(1, lines.size(), lines::toString);
    return JSON.readTree(lines.get(0));
  }

  private static void commit(GameQueue queue, int player, int count) throws Exception {
    OwnerSession session = queue.open("player:" + player);
    session.put(new Item(player, 1, count));
    session.commit().awaitQueued(LONG);
    session.put(new Item(player, 1, count + 1));
    session.put(new Item(player, 2, count));
    session.commit().awaitQueued(LONG);
  }

  @Test
  void nodesAndWritersSayHowTheyAreUntilTheyEnd() throws Exception {
    assertEquals(ExitCodes.FOUND_SOMETHING, run("writers").exitCode(), "no writer runs");
    try (GameQueue queue = game.node("n1")) {
      commit(queue, 1, 1);
      await().atMost(LONG).until(() -> json("nodes").path("commits").asInt() == 2);
      JsonNode node = json("nodes");
      assertEquals("running", node.path("state").asText(), node::toString);
      assertEquals(1, node.path("sessions").asInt(), node::toString);
      assertEquals(3, node.path("rows").asInt(), node::toString);
      assertEquals(1, node.path("merged").asInt(), "a row was changed again while it waited");
      assertEquals(0, node.path("journaled").asInt(), node::toString);
      assertEquals(0, node.path("waiting").asInt(), node::toString);
      assertTrue(node.path("walBytes").asLong() > 0, node::toString);
      assertTrue(node.path("mysql").asBoolean(), node::toString);
      try (WriterService writer = game.writer("w1")) {
        await().atMost(LONG).until(() -> json("writers").path("rows").asInt() == 2);
        JsonNode said = json("writers");
        assertEquals("running", said.path("state").asText(), said::toString);
        assertEquals(2, said.path("workers").asInt(), said::toString);
        assertFalse(said.path("outage").asBoolean(), said::toString);
        assertTrue(said.path("flushedAt").asText().endsWith("Z"), said::toString);
        assertEquals(ExitCodes.OK, run("writers").exitCode());
        CommandLineRun status = run("status");
        assertTrue(status.out().contains("nodes    1 running"), status::out);
        assertTrue(status.out().contains("writers  1 running"), status::out);
        assertTrue(writer.isAlive());
        assertEquals(List.of(), List.copyOf(queue.drain(LONG)));
      }
    }
    assertEquals("0 nodes", run("nodes").out().strip());
    assertEquals("", run("writers --json").out());
  }

  /** Until a start beside it has put back what Redis may lack. */
  @Test
  void aNodeThatKeepsItsWalIsToActOnUntilItIsReplayed() throws Exception {
    try (GameQueue queue = game.node("n1")) {
      commit(queue, 2, 1);
    }
    CommandLineRun kept = run("nodes");
    assertEquals(ExitCodes.FOUND_SOMETHING, kept.exitCode(), kept::toString);
    assertTrue(kept.out().contains("closed, WAL kept"), kept::out);
    assertFalse(kept.out().contains(" -       -       0"), "a change waits for MySQL");
    assertTrue(kept.out().contains("start it again beside its WAL " + directory), kept::out);
    try (GameQueue queue = game.node("n1");
        WriterService writer = game.writer("w1")) {
      JsonNode node = json("nodes");
      assertEquals("running", node.path("state").asText(), node::toString);
      assertEquals(List.of(), List.copyOf(queue.drain(LONG)));
      await().atMost(LONG).until(() -> writer.stats().rows() >= 2);
    }
  }

  @Test
  void aNodeThatIsGoneIsNamedUntilItIsForgotten() throws Exception {
    try (RedisConnector connector = new RedisConnector(new RedisConfig(TestServers.redisUri()));
        RedisConnection redis = connector.open()) {
      new ProcessSigns(game.namespace)
          .tell(redis, GONE, ProcessSigns.NODE, SignFields.of(lostNode()));
    }
    CommandLineRun gone = run("nodes");
    assertEquals(ExitCodes.FOUND_SOMETHING, gone.exitCode(), gone::toString);
    assertTrue(gone.out().contains("was not closed: start it again beside its WAL /var/wal/n9"));
    assertFalse(gone.out().contains("\u001b"), "control characters of a name");
    assertTrue(run("status").out().contains("nodes    0 running, 1 gone"));
    assertEquals(ExitCodes.COULD_NOT_RUN, run("nodes --forget 00000000").exitCode());
    assertEquals(ExitCodes.OK, run("nodes --forget " + GONE).exitCode());
    assertEquals(ExitCodes.OK, run("nodes").exitCode());
    assertEquals(
        "forget node", game.queryText("SELECT action FROM gameq_audit WHERE target LIKE '%n9%'"));
  }

  private static NodeSign lostNode() {
    return new NodeSign(
        new ProcessIdentity(
            "n9\u001b[2J", "h1", 17, "1.2", new ProtocolRange(1, 2), System.currentTimeMillis()),
        NodeSign.RUNNING,
        1,
        true,
        new NodeSign.Sessions(3, 1),
        new NodeSign.Commits(10, 30, 4, 2, 0.25),
        new NodeSign.Wal("/var/wal/n9", 1 << 20, 4L << 30, 1, 1_500),
        new NodeSign.Healings(0, 0, 0, 0));
  }
}
