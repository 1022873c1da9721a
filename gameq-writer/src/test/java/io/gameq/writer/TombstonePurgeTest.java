package io.gameq.writer;

import static io.gameq.servers.Waits.LONG;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.gameq.MySqlException;
import io.gameq.mysql.MySqlPool;
import io.gameq.mysql.MySqlPool.MySql;
import io.gameq.mysql.tables.TombstoneHorizon;
import io.gameq.rights.MySqlRights.Role;
import io.gameq.servers.GameDatabase;
import io.gameq.servers.MySqlServer;
import io.gameq.writer.service.WriterService;
import io.gameq.writer.service.WriterUpkeep.TombstonePurge;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

@Execution(ExecutionMode.CONCURRENT)
class TombstonePurgeTest {
  private static final Duration KEPT = Duration.ofDays(30);

  private final GameDatabase database = database();
  private final MySqlServer server = database.server();
  private final MySql mysql = MySqlPool.open(server.as(Role.WRITER).config(4), "test");

  private static GameDatabase database() {
    try {
      return GameDatabase.create("tombstones");
    } catch (SQLException e) {
      throw new IllegalStateException(e);
    }
  }

  @BeforeEach
  void deletedToday() throws SQLException {
    deleted(1, "today", 0);
  }

  @AfterEach
  void close() {
    mysql.close();
  }

  private void deleted(int rows, String key, int daysAgo) throws SQLException {
    try (Connection connection = server.connect();
        PreparedStatement insert =
            connection.prepareStatement(
                "INSERT INTO gameq_tombstone VALUES ('item', ?, 'player%3A1', 7, UTC_TIMESTAMP(3) -"
                    + " INTERVAL ? DAY)")) {
      connection.setAutoCommit(false);
      for (int i = 0; i < rows; i++) {
        insert.setString(1, key + i);
        insert.setInt(2, daysAgo);
        insert.addBatch();
      }
      insert.executeBatch();
      connection.commit();
    }
  }

  private String left() throws SQLException {
    return server.queryText("SELECT GROUP_CONCAT(row_key ORDER BY row_key) FROM gameq_tombstone");
  }

  private long purge(Duration kept) {
    try (TombstonePurge purge = new TombstonePurge(mysql, kept)) {
      return purge.purge();
    }
  }

  @Test
  void removesOnlyWhatIsOldAndAgainDoesNothing() throws SQLException {
    deleted(3, "old", 31);
    deleted(2, "young", 29);
    assertEquals(3, purge(KEPT));
    assertEquals("today0,young0,young1", left());
    assertEquals(0, purge(KEPT));
  }

  @Test
  void discardsGoWithTheTombstonesAndMoveTheHorizonToo() throws SQLException {
    for (int days : new int[] {29, 31}) {
      server.execute(
          ("INSERT INTO gameq_discard VALUES ('item', 'd%1$d', '', 'player%%3A1', 7,"
                  + " UTC_TIMESTAMP(3) - INTERVAL %1$d DAY)")
              .formatted(days));
    }
    assertEquals(1, purge(KEPT));
    assertEquals("d29", server.queryText("SELECT GROUP_CONCAT(row_key) FROM gameq_discard"));
    assertTrue(TombstoneHorizon.read(mysql) != null, "older WALs are refused from now on");
  }

  @Test
  void oneStatementRemovesAChunkAndARoundAllChunks() throws SQLException {
    deleted(2_500, "old", 40);
    Instant before = Objects.requireNonNull(TombstoneHorizon.advance(mysql, KEPT));
    assertEquals(
        TombstonePurge.CHUNK_ROWS,
        TombstoneHorizon.purge(mysql, before, TombstonePurge.CHUNK_ROWS));
    assertEquals("1501", server.queryText("SELECT COUNT(*) FROM gameq_tombstone"));
    assertEquals(1_500, purge(KEPT));
    assertEquals("today0", left());
  }

  @Test
  void theHorizonIsRecordedAndNeverMovesBack() throws SQLException {
    purge(KEPT);
    assertNull(TombstoneHorizon.read(mysql), "nothing was purged yet");
    deleted(1, "old", 31);
    deleted(1, "older", 365);
    purge(KEPT);
    Instant horizon = Objects.requireNonNull(TombstoneHorizon.read(mysql));
    long ago = Duration.between(horizon, Instant.now()).toMinutes();
    assertTrue(Math.abs(ago - KEPT.toMinutes()) < 60, () -> ago + " minutes ago");
    deleted(1, "older", 365);
    assertEquals(1, purge(Duration.ofDays(300)));
    assertEquals(horizon, TombstoneHorizon.read(mysql));
  }

  @Test
  void theHorizonIsRecordedBeforeAnythingIsRemoved() throws SQLException {
    deleted(1, "old", 31);
    server.execute(
        "CREATE TRIGGER refuse BEFORE DELETE ON gameq_tombstone FOR EACH ROW SIGNAL SQLSTATE"
            + " '45000' SET MESSAGE_TEXT = 'killed here'");
    assertThrows(MySqlException.class, () -> purge(KEPT));
    assertNotNull(TombstoneHorizon.read(mysql));
    assertEquals("old0,today0", left());
  }

  @Test
  void whatWasHandledIsForgottenWithTheTombstonesAndTheHorizonTellsSo() throws SQLException {
    server.execute(
        "INSERT INTO gameq_handled VALUES ('mail', 'old', 1, 0, 'a', 1, UTC_TIMESTAMP(3) - INTERVAL"
            + " 31 DAY), ('mail', 'young', 1, 0, 'a', 1, UTC_TIMESTAMP(3))");
    assertEquals(1, purge(KEPT));
    assertNotNull(TombstoneHorizon.read(mysql));
    assertEquals("young", server.queryText("SELECT id FROM gameq_handled"));
  }

  @Test
  void whatWasHandledIsKeptUntilNoLeftWalBringsItsMessageBack() throws SQLException {
    deleted(1, "old", 2);
    server.execute(
        "INSERT INTO gameq_handled VALUES ('mail', 'over', 1, 0, 'a', 1, UTC_TIMESTAMP(3) -"
            + " INTERVAL 8 DAY), ('mail', 'put back', 1, 0, 'a', 1, UTC_TIMESTAMP(3) - INTERVAL 6"
            + " DAY)");
    assertEquals(2, purge(Duration.ofDays(1)));
    assertEquals("put back", server.queryText("SELECT GROUP_CONCAT(id) FROM gameq_handled"));
    assertEquals("today0", left());
  }

  @Test
  void aTombstoneThatHidesADeadLetterIsKept() throws SQLException {
    deleted(2, "old", 31);
    server.execute(
        "INSERT INTO gameq_dead_letter VALUES (1, 'player%3A1', 'item', 'old1', 3, '', 0, '', 1,"
            + " UTC_TIMESTAMP(3))");
    assertEquals(1, purge(KEPT));
    assertEquals("old1,today0", left());
    server.execute("DELETE FROM gameq_dead_letter");
    assertEquals(1, purge(KEPT));
  }

  @Test
  void twoWritersAtOnceRemoveEachTombstoneOnce() throws SQLException {
    deleted(3_000, "old", 31);
    CompletableFuture<Long> first = CompletableFuture.supplyAsync(() -> purge(KEPT));
    CompletableFuture<Long> second = CompletableFuture.supplyAsync(() -> purge(KEPT));
    assertEquals(3_000, first.join() + second.join());
    assertEquals("today0", left());
  }

  @Test
  void stopsWhenItIsClosed() throws SQLException {
    deleted(2_500, "old", 31);
    TombstonePurge purge = new TombstonePurge(mysql, KEPT);
    purge.close();
    assertEquals(TombstonePurge.CHUNK_ROWS, purge.purge(), "the chunk at hand");
  }

  @Test
  void aRunningWriterPurges(@TempDir Path walDirectory) throws SQLException {
    deleted(1, "old", 31);
    try (Game game = new Game(database, walDirectory);
        WriterService writer = game.writer("w1")) {
      await().atMost(LONG).until(() -> left().equals("today0"));
      assertFalse(writer.stats().toString().isEmpty());
    }
  }
}
