package io.gameq.mysql;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.zaxxer.hikari.HikariDataSource;
import io.gameq.OwnerId;
import io.gameq.catalog.Catalog;
import io.gameq.catalog.RowImage;
import io.gameq.catalog.RowKey;
import io.gameq.catalog.Table;
import io.gameq.servers.MySqlServer;
import io.gameq.servers.TestServers;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.jdbi.v3.core.Jdbi;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class OwnerReaderTest {
  private static final OwnerId PLAYER = OwnerId.of("player:1");

  private final MySqlServer server = TestServers.mysql().freshDatabase("reader");
  private final HikariDataSource pool =
      MySqlPool.open(new MySqlConfig(server.jdbcUrl(), server.user(), server.password(), 1), "one");
  private final OwnerReader reader = new OwnerReader(Jdbi.create(pool));
  private List<Table> tables = List.of();

  @BeforeEach
  void createTables() throws SQLException {
    for (SchemaFiles.SchemaFile file : SchemaFiles.all()) {
      server.execute(file.statements().toArray(String[]::new));
    }
    for (String name : List.of("first", "second")) {
      server.execute(
          "CREATE TABLE %s (player_id BIGINT PRIMARY KEY, gq_version BIGINT UNSIGNED NOT NULL DEFAULT 0)"
              .formatted(name),
          "INSERT INTO %s VALUES (1, 10)".formatted(name),
          "INSERT INTO gameq_table (table_name, owner_kind, owner_column) VALUES ('%s', 'player', 'player_id')"
              .formatted(name));
    }
    Catalog catalog = CatalogReader.read(pool);
    tables = List.of(catalog.table("first"), catalog.table("second"));
  }

  @AfterEach
  void closePool() {
    pool.close();
  }

  private void read(Consumer<RowImage> rows, Consumer<Long> tombstone) {
    reader.read(
        PLAYER,
        null,
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
    try (var connection = pool.getConnection();
        var rows = connection.createStatement().executeQuery("SELECT gq_version FROM first")) {
      rows.next();
      assertEquals(11, rows.getLong(1));
      assertTrue(connection.getAutoCommit());
    }
  }
}
