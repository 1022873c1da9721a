package io.gameq.writer;

import static io.gameq.servers.Waits.LONG;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.gameq.lab.servers.EmbeddedRedis;
import io.gameq.mysql.MySqlPool;
import io.gameq.mysql.MySqlPool.MySql;
import io.gameq.mysql.tables.TermTable;
import io.gameq.redis.PrimaryConnector;
import io.gameq.redis.RedisConnector;
import io.gameq.redis.RedisConnector.RedisConfig;
import io.gameq.redis.SlotKeys;
import io.gameq.redis.Slots;
import io.gameq.rights.MySqlRights.Role;
import io.gameq.servers.GameDatabase;
import io.gameq.term.Term.TermMovedException;
import io.gameq.terminal.ExitCodes;
import java.nio.file.Path;
import java.sql.SQLException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A Redis that counts, and a stray one: an old server that somebody's configuration names. */
class TermCommandTest {
  @TempDir Path directory;

  private final String namespace = "term";
  private final GameDatabase database = GameDatabase.create("term");
  private final MySql mysql = MySqlPool.open(database.as(Role.WRITER).config(2), "term");
  private final TermTable terms = new TermTable(mysql);
  private EmbeddedRedis right;
  private EmbeddedRedis stray;
  private ConfigFile ofStray;

  TermCommandTest() throws SQLException {}

  @BeforeEach
  void start() throws Exception {
    right = EmbeddedRedis.start();
    stray = EmbeddedRedis.start();
    open(right);
    assertEquals(1, terms.current().number());
    ofStray = ConfigFile.write(directory, database.server(), namespace, Game.SLOTS, stray.uri());
  }

  @AfterEach
  void stop() {
    mysql.close();
    right.close();
    stray.close();
  }

  private void open(EmbeddedRedis server) {
    try (RedisConnector connector = new RedisConnector(new RedisConfig(server.uri()))) {
      new PrimaryConnector(connector, terms).open().redis().close();
    }
  }

  private void holds(EmbeddedRedis server, String owner) {
    try (RedisConnector connector = new RedisConnector(new RedisConfig(server.uri()));
        var redis = connector.open()) {
      long unused =
          redis
              .sync()
              .zadd(new Slots(namespace, Game.SLOTS).get(1).due(), 1, SlotKeys.bytes(owner + ":s"));
    }
  }

  private void silent() throws SQLException {
    database.server().execute("UPDATE gameq_redis_term SET seen_at = '2020-01-01'");
  }

  @Test
  void aStrayRedisNeverCountsHoweverSilentTheOtherIs() throws Exception {
    silent();
    TermMovedException refused = assertThrows(TermMovedException.class, () -> open(stray));
    assertTrue(refused.getMessage().contains("term set"), refused.getMessage());
    right.close();
    assertThrows(TermMovedException.class, () -> open(stray));
    assertEquals(1, terms.current().number());
    CommandLineRun status = ofStray.run("status");
    assertEquals(ExitCodes.COULD_NOT_RUN, status.exitCode());
    assertTrue(status.err().contains("does not count: the one at "), status.err());
    assertEquals("", status.out(), "nothing of it is shown as if it counted");
  }

  @Test
  void anotherCountsByCommandOnceTheOneBeforeIsGoneAndSilent() throws Exception {
    right.close();
    CommandLineRun early = ofStray.run("term set --yes");
    assertEquals(ExitCodes.COULD_NOT_RUN, early.exitCode(), early.out());
    assertTrue(early.err().contains("gave a sign of life to somebody"), early.err());
    silent();
    CommandLineRun shown = ofStray.run("term show");
    assertEquals(ExitCodes.FOUND_SOMETHING, shown.exitCode(), shown.err());
    assertTrue(shown.out().contains("does not count: nothing waits there"), shown.out());
    CommandLineRun set = ofStray.run("term set --yes");
    assertEquals(ExitCodes.OK, set.exitCode(), set.err());
    assertEquals(2, terms.current().number());
    open(stray);
    assertEquals(ExitCodes.OK, ofStray.run("term show").exitCode());
    assertTrue(ofStray.run("term set --yes").out().contains("counts already"));
    assertTrue(ofStray.run("audit").out().contains("term set"));
  }

  @Test
  void whatTheOneThatCountsHoldsIsGivenUpOnlyByName() throws Exception {
    holds(right, "player%3A1");
    silent();
    CommandLineRun refused = ofStray.run("term set --yes");
    assertEquals(ExitCodes.COULD_NOT_RUN, refused.exitCode(), refused.out());
    assertTrue(refused.err().contains("answers, and 1 owner and 0 messages wait"), refused.err());
    assertEquals(ExitCodes.OK, ofStray.run("term set --yes --leave").exitCode());
    assertEquals(2, terms.current().number());
    assertThrows(TermMovedException.class, () -> open(right));
  }

  @Test
  void aReplicaThatWasPromotedNeedsNoCommand() {
    try (RedisConnector connector = new RedisConnector(new RedisConfig(stray.uri()));
        var redis = connector.open()) {
      int port = Integer.parseInt(right.uri().replaceAll(".*:", ""));
      String unused = redis.sync().replicaof("127.0.0.1", port);
      await()
          .atMost(LONG)
          .until(() -> redis.sync().info("replication").contains("master_link_status:up"));
      open(right); // its history has another name since it has a replica, which processes note
      unused = redis.sync().replicaofNoOne();
    }
    open(stray);
    assertEquals(2, terms.current().number());
    assertThrows(TermMovedException.class, () -> open(right));
  }
}
