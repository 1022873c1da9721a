package io.gameq.mysql.tables;

import io.gameq.mysql.RowChange;
import io.gameq.mysql.Sql;
import io.gameq.mysql.Statements;
import io.gameq.rows.RowKey;
import io.gameq.rows.Table;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.ObjLongConsumer;

/** The versions of deleted rows, in {@code gameq_tombstone}. Stateless. */
public final class TombstoneTable {
  private static final int MOST_ROWS_PER_STATEMENT = 512;

  private static final String SELECT = "SELECT row_key, version FROM gameq_tombstone";

  private TombstoneTable() {}

  /** Notes deletes, each unless a newer one of the same row is noted. Sorts the list. */
  public static void write(Connection connection, List<RowChange> deletes) throws SQLException {
    deletes.sort(Comparator.comparing(row -> row.key().keyText()));
    for (List<RowChange> some : Sql.chunks(deletes, MOST_ROWS_PER_STATEMENT)) {
      List<Object> arguments = new ArrayList<>();
      for (RowChange change : some) {
        RowKey key = change.key();
        arguments.addAll(
            List.of(
                key.table().name(),
                key.keyText(),
                change.owner().encoded(),
                change.image().version()));
      }
      int unused =
          Sql.execute(
              connection,
              "INSERT INTO gameq_tombstone (table_name, row_key, owner, version, deleted_at) VALUES"
                  + " "
                  + Sql.rows("(?, ?, ?, ?, UTC_TIMESTAMP(3))", some.size())
                  + " ON DUPLICATE KEY UPDATE owner = IF(VALUES(version) > version, VALUES(owner),"
                  + " owner), deleted_at = IF(VALUES(version) > version, VALUES(deleted_at),"
                  + " deleted_at), version = GREATEST(version, VALUES(version))",
              arguments.toArray());
    }
  }

  /** Takes back the note of a delete that MySQL refused: the row is still there. */
  public static void remove(Connection connection, RowChange delete) throws SQLException {
    int unused =
        Sql.execute(
            connection,
            "DELETE FROM gameq_tombstone WHERE table_name = ? AND row_key = ? AND version = ?",
            delete.key().table().name(),
            delete.key().keyText(),
            delete.image().version());
  }

  /**
   * Whether no row of a table has a tombstone and no transaction is writing one, which is waited
   * for. Takes no lock when there is none.
   */
  public static boolean hasNone(Connection connection, Table table) throws SQLException {
    String any = "SELECT 1 FROM gameq_tombstone WHERE table_name = ? LIMIT 1";
    return !Sql.exists(connection, any, table.name())
        && !Sql.exists(connection, any + " LOCK IN SHARE MODE", table.name());
  }

  /** The tombstones of rows; {@code locked} waits for transactions that are writing one. */
  public static Map<RowKey, Long> read(
      Connection connection, Table table, Collection<RowKey> keys, boolean locked)
      throws SQLException {
    Map<RowKey, Long> found = new HashMap<>();
    RowVersions.read(
        connection,
        SELECT,
        table,
        keys,
        locked ? " LOCK IN SHARE MODE" : "",
        (key, version, rs) -> found.put(key, version));
    return found;
  }

  /** Asks for the tombstones of rows beside other statements. */
  static void add(
      Statements to, Table table, Collection<RowKey> keys, ObjLongConsumer<RowKey> tombstone) {
    RowVersions.add(
        to, SELECT, table, keys, "", (key, version, rs) -> tombstone.accept(key, version));
  }
}
