package io.gameq.mysql.tables;

import io.gameq.mysql.RowChange;
import io.gameq.mysql.Sql;
import io.gameq.mysql.Statements;
import io.gameq.rows.RowKey;
import io.gameq.rows.Table;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.function.ObjLongConsumer;

/** The versions of deleted rows, in {@code gameq_tombstone}. Stateless. */
public final class TombstoneTable {
  private static final int MOST_ROWS_PER_STATEMENT = 512;

  private TombstoneTable() {}

  /** Notes deletes, each unless a newer one of the same row is noted. Sorts the list. */
  public static void write(Connection connection, List<RowChange> deletes) throws SQLException {
    deletes.sort(Comparator.comparing(row -> row.key().keyText()));
    for (List<RowChange> some : Sql.chunks(deletes, MOST_ROWS_PER_STATEMENT)) {
      String row = "(?, ?, ?, ?, UTC_TIMESTAMP(3))";
      String sql =
          "INSERT INTO gameq_tombstone (table_name, row_key, owner, version, deleted_at) VALUES "
              + (row + ",").repeat(some.size() - 1)
              + row
              + " ON DUPLICATE KEY UPDATE owner = IF(VALUES(version) > version, VALUES(owner),"
              + " owner), deleted_at = IF(VALUES(version) > version, VALUES(deleted_at),"
              + " deleted_at), version = GREATEST(version, VALUES(version))";
      try (PreparedStatement statement = connection.prepareStatement(sql)) {
        int at = 1;
        for (RowChange change : some) {
          statement.setString(at++, change.key().table().name());
          statement.setString(at++, change.key().keyText());
          statement.setString(at++, change.owner().encoded());
          statement.setLong(at++, change.image().version());
        }
        statement.executeUpdate();
      }
    }
  }

  /** Takes back the note of a delete that MySQL refused: the row is still there. */
  public static void remove(Connection connection, RowChange delete) throws SQLException {
    try (PreparedStatement statement =
        connection.prepareStatement(
            "DELETE FROM gameq_tombstone WHERE table_name = ? AND row_key = ? AND version = ?")) {
      statement.setString(1, delete.key().table().name());
      statement.setString(2, delete.key().keyText());
      statement.setLong(3, delete.image().version());
      statement.executeUpdate();
    }
  }

  /**
   * Whether no row of a table has a tombstone and no transaction is writing one, which is waited
   * for. Takes no lock when there is none.
   */
  public static boolean hasNone(Connection connection, Table table) throws SQLException {
    return hasNone(connection, table, "") && hasNone(connection, table, " LOCK IN SHARE MODE");
  }

  private static boolean hasNone(Connection connection, Table table, String locking)
      throws SQLException {
    try (PreparedStatement statement =
        connection.prepareStatement(
            "SELECT 1 FROM gameq_tombstone WHERE table_name = ? LIMIT 1" + locking)) {
      statement.setString(1, table.name());
      try (ResultSet rs = statement.executeQuery()) {
        return !rs.next();
      }
    }
  }

  /** The tombstones of rows; {@code locked} waits for transactions that are writing one. */
  public static Map<RowKey, Long> read(
      Connection connection, Table table, Collection<RowKey> keys, boolean locked)
      throws SQLException {
    return RowVersions.read(
        connection, "gameq_tombstone", table, keys, locked ? " LOCK IN SHARE MODE" : "");
  }

  /** Asks for the tombstones of rows beside other statements. */
  static void add(
      Statements to, Table table, Collection<RowKey> keys, ObjLongConsumer<RowKey> tombstone) {
    RowVersions.add(
        to,
        "SELECT row_key, version FROM gameq_tombstone",
        table,
        keys,
        (key, version, rs) -> tombstone.accept(key, version));
  }
}
