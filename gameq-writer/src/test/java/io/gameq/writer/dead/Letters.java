package io.gameq.writer.dead;

import io.gameq.mysql.MySqlPool;
import io.gameq.mysql.MySqlPool.MySql;
import io.gameq.mysql.RowChange;
import io.gameq.mysql.flush.GuardedWrites;
import io.gameq.mysql.flush.RowBisection.StatementLimits;
import io.gameq.mysql.schema.CatalogReader;
import io.gameq.mysql.tables.DeadLetterTable;
import io.gameq.mysql.tables.DeadLetterTable.Refused;
import io.gameq.mysql.tables.OwnerTable;
import io.gameq.owner.OwnerId;
import io.gameq.rights.MySqlRights.Role;
import io.gameq.rows.CanonicalRow;
import io.gameq.rows.CurrentCatalog.Catalog;
import io.gameq.rows.RowCodec;
import io.gameq.rows.RowHeader;
import io.gameq.rows.RowHeader.RowOp;
import io.gameq.rows.RowImage;
import io.gameq.rows.Table;
import io.gameq.servers.GameDatabase;
import io.gameq.servers.MySqlServer;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Clock;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** A database with players, guilds and members, to put dead letters and rows into. */
final class Letters implements AutoCloseable {
  private static final RowCodec CODEC = new RowCodec((table, layout) -> null, Clock.systemUTC());

  final MySqlServer server;
  final MySql mysql;
  final OwnerId player = OwnerId.of("player:1");
  private final Catalog catalog;

  Letters() throws SQLException {
    server =
        GameDatabase.create("dead")
            .table(
                "item",
                "player",
                "player_id",
                "id BIGINT NOT NULL PRIMARY KEY, player_id BIGINT NOT NULL, name VARCHAR(30) NULL,"
                    + " count INT NOT NULL, CONSTRAINT few CHECK (count < 5000)")
            .table("guild", "guild", "id", "id BIGINT NOT NULL PRIMARY KEY")
            .table(
                "member",
                "player",
                "player_id",
                "player_id BIGINT NOT NULL PRIMARY KEY, guild_id BIGINT NOT NULL, FOREIGN KEY"
                    + " (guild_id) REFERENCES guild (id)")
            .server();
    mysql = MySqlPool.open(server.as(Role.WRITER).config(4), "test");
    catalog = CatalogReader.read(mysql);
    new OwnerTable(mysql).raise(player, "aaaaaaaa00000001", "n1", 0);
  }

  RowChange item(long version, long id, int count) {
    return put(
        player, version, "item", Map.of("id", id, "player_id", 1, "name", "sword", "count", count));
  }

  RowChange put(OwnerId owner, long version, String table, Map<String, ?> columns) {
    Table of = catalog.table(table);
    return change(
        owner,
        new RowImage(of, RowOp.PUT, version, CanonicalRow.of(of, columns, Clock.systemUTC())));
  }

  RowChange delete(long version, String table, Object... key) {
    Table of = catalog.table(table);
    return change(player, new RowImage(of, RowOp.DELETE, version, CanonicalRow.key(of, key)));
  }

  private static RowChange change(OwnerId owner, RowImage image) {
    byte[] encoded = CODEC.encode(image.table(), image.op(), image.values());
    RowHeader.setVersion(encoded, image.version());
    return new RowChange(owner, image.rowKey(), image, encoded);
  }

  /** Sets a row aside, as a flush does that MySQL refused; returns the id of the letter. */
  String set(RowChange row) throws SQLException {
    return set(
        new Refused(
            row.owner(),
            row.key().table().name(),
            row.key().keyText(),
            row.image().version(),
            row.encoded(),
            1,
            3819,
            "Check constraint 'few' is violated."));
  }

  String set(Refused row) throws SQLException {
    try (Connection connection = mysql.connection()) {
      DeadLetterTable.write(connection, List.of(row), 1_000);
    }
    return query(
        "SELECT id FROM gameq_dead_letter WHERE table_name = '"
            + row.table()
            + "' AND row_key = '"
            + row.rowKey()
            + "'");
  }

  /** Writes a row, as a flush does. */
  void write(RowChange row) throws SQLException {
    try (Connection connection = mysql.connection()) {
      GuardedWrites.on(mysql)
          .write(connection, List.of(row), Map.of(), Set.of(), StatementLimits.NONE);
    }
  }

  String query(String sql) throws SQLException {
    return server.queryText(sql);
  }

  @Override
  public void close() {
    mysql.close();
  }
}
