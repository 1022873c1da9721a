package io.gameq.mysql.tables;

import static io.gameq.servers.Waits.LONG;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assertions.fail;

import io.gameq.mysql.MySqlPool;
import io.gameq.mysql.MySqlPool.MySql;
import io.gameq.mysql.schema.CatalogReader;
import io.gameq.mysql.schema.Settings.SchemaFiles;
import io.gameq.owner.DurableSessions.CountingSessions;
import io.gameq.owner.OwnerId;
import io.gameq.owner.SessionId;
import io.gameq.rows.CurrentCatalog.Catalog;
import io.gameq.rows.EncodedRow.RowKey;
import io.gameq.rows.RowImage;
import io.gameq.rows.Table;
import io.gameq.servers.MySqlServer;
import io.gameq.servers.TestServers;
import io.gameq.term.Term;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class OwnerReaderTest {
  private static final OwnerId PLAYER = OwnerId.of("player:1");

  private final MySqlServer server = TestServers.mysql().freshDatabase("reader");
  private final MySql pool = MySqlPool.open(server.config(1), "one");
  private final MySql others = MySqlPool.open(server.config(2), "many");
  private final OwnerReader reader = new OwnerReader(pool);
  private List<Table> tables = List.of();

  @BeforeEach
  void createTables() throws SQLException {
    for (SchemaFiles.SchemaFile file : SchemaFiles.all()) {
      server.execute(file.statements().toArray(String[]::new));
    }
    for (String name : List.of("first", "second")) {
      server.execute(
          ("CREATE TABLE %s (player_id BIGINT PRIMARY KEY, gq_version BIGINT UNSIGNED NOT"
                  + " NULL DEFAULT 0)")
              .formatted(name),
          "INSERT INTO %s VALUES (1, 10)".formatted(name),
          ("INSERT INTO gameq_table (table_name, owner_kind, owner_column) VALUES ('%s',"
                  + " 'player', 'player_id')")
              .formatted(name));
    }
    Catalog catalog = CatalogReader.read(pool);
    tables = List.of(catalog.table("first"), catalog.table("second"));
  }

  @AfterEach
  void closePool() {
    pool.close();
    others.close();
  }

  private void read(Consumer<RowImage> rows, Consumer<Long> tombstone) {
    read(null, rows, tombstone);
  }

  private boolean open(SessionId session, Consumer<RowImage> rows) {
    return read(session, rows, version -> {});
  }

  private boolean read(
      @Nullable SessionId session, Consumer<RowImage> rows, Consumer<Long> tombstone) {
    return reader.read(
        PLAYER,
        session,
        Term.NOT_KNOWN,
        0,
        tables,
        List.of(),
        new OwnerReader.Sink() {
          @Override
          public void row(RowImage image) {
            rows.accept(image);
          }

          @Override
          public void tombstone(RowKey key, long version) {}

          @Override
          public void tombstoneVersion(long version) {
            tombstone.accept(version);
          }
        });
  }

  @Test
  void anOpenCountsAloneBeforeItReads() throws SQLException {
    OwnerTable owners = new OwnerTable(others);
    SessionId before = owners.raise(PLAYER, "aaaaaaaa00000001", "n1", 0);
    assertTrue(owners.markOpen(PLAYER, before));
    SessionId opening = owners.raise(PLAYER, "bbbbbbbb00000001", "n2", 0);
    List<Long> versions = new ArrayList<>();
    try (Connection flush = server.connect()) {
      flush.setAutoCommit(false);
      assertTrue(
          CountingSessions.counts(OwnerTable.lock(flush, List.of(PLAYER)).get(PLAYER), before));
      CompletableFuture<Boolean> open =
          CompletableFuture.supplyAsync(() -> open(opening, row -> versions.add(row.version())));
      await().atMost(LONG).until(server::hasLockWait);
      try (Statement statement = flush.createStatement()) {
        statement.execute("UPDATE first SET gq_version = 11");
      }
      flush.commit();
      assertTrue(open.join());
    }
    assertEquals(List.of(11L, 10L), versions);
    assertEquals(CountingSessions.open(opening), owners.current(List.of(PLAYER)).get(PLAYER));
    assertFalse(open(before, row -> fail("reads what is not its own")));
  }

  @Test
  void whatIsWrittenInTheMiddleOfAReadIsNotInItsSnapshot() {
    List<Long> versions = new ArrayList<>();
    read(
        row -> {
          versions.add(row.version());
          try {
            server.execute(
                "UPDATE second SET gq_version = gq_version + 1",
                "REPLACE INTO gameq_tombstone VALUES ('second', '9', '%s', 99, UTC_TIMESTAMP(3))"
                    .formatted(PLAYER.encoded()));
          } catch (SQLException e) {
            throw new AssertionError(e);
          }
        },
        versions::add);
    assertEquals(List.of(10L, 10L, 0L), versions);
    versions.clear();
    read(row -> versions.add(row.version()), versions::add);
    assertEquals(List.of(10L, 12L, 99L), versions, "the next read has a snapshot of its own");
  }

  @Test
  void aReadThatFailsLeavesNothingOpenOnItsConnection() throws SQLException {
    assertThrows(
        AssertionError.class,
        () ->
            read(
                row -> {
                  throw new AssertionError("not an exception");
                },
                version -> {}));
    server.execute("UPDATE first SET gq_version = 11");
    try (var connection = pool.connection();
        var rows = connection.createStatement().executeQuery("SELECT gq_version FROM first")) {
      rows.next();
      assertEquals(11, rows.getLong(1));
      assertTrue(connection.getAutoCommit());
    }
  }
}
