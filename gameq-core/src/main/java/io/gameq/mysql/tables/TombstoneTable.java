package io.gameq.mysql.tables;

import io.gameq.mysql.RowChange;
import io.gameq.mysql.Sql;
import io.gameq.mysql.Statements;
import io.gameq.rows.EncodedRow.RowKey;
import io.gameq.rows.Table;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.ObjLongConsumer;
import java.util.stream.Stream;

/** The versions of deleted rows, in {@code gameq_tombstone}. Stateless. */
public final class TombstoneTable {
  private static final int MOST_ROWS_PER_STATEMENT = 512;

  private static final String SELECT = "SELECT row_key, version FROM gameq_tombstone";

  private TombstoneTable() {}

  /**
   * Notes deletes, each unless a newer one of the same row is noted; in one order for all writers.
   */
  public static void write(Connection connection, List<RowChange> deletes) throws SQLException {
    List<RowChange> sorted =
        deletes.stream().sorted(Comparator.comparing(row -> row.key().text())).toList();
    for (List<RowChange> some : Sql.chunks(sorted, MOST_ROWS_PER_STATEMENT)) {
      Sql.execute(
          connection,
          "INSERT INTO gameq_tombstone (table_name, row_key, owner, version, deleted_at) VALUES "
              + Sql.rows("(?, ?, ?, ?, UTC_TIMESTAMP(3))", some.size())
              + " ON DUPLICATE KEY UPDATE owner = IF(VALUES(version) > version, VALUES(owner),"
              + " owner), deleted_at = IF(VALUES(version) > version, VALUES(deleted_at),"
              + " deleted_at), version = GREATEST(version, VALUES(version))",
          some.stream().flatMap(TombstoneTable::values).toArray());
    }
  }

  private static Stream<Object> values(RowChange delete) {
    RowKey key = delete.key();
    return Stream.of(
        key.table().name(), key.keyText(), delete.owner().encoded(), delete.image().version());
  }

  /** Takes back the note of a delete that MySQL refused: the row is still there. */
  public static void remove(Connection connection, RowChange delete) throws SQLException {
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
      Connection connection, Collection<RowKey> keys, boolean locked) throws SQLException {
    Map<RowKey, Long> found = new HashMap<>();
    RowVersions.read(
        connection,
        SELECT,
        keys,
        locked ? " LOCK IN SHARE MODE" : "",
        (key, version, rs) -> found.put(key, version));
    return found;
  }

  /** Asks for the tombstones of rows beside other statements. */
  static void add(Statements to, Collection<RowKey> keys, ObjLongConsumer<RowKey> tombstone) {
    RowVersions.add(to, SELECT, keys, "", (key, version, rs) -> tombstone.accept(key, version));
  }

  /**
   * Looks rows up in those of gameq's own tables that hold a version for each row key. Stateless.
   */
  static final class RowVersions {
    /** As many as one statement of a flush writes, so that reading them takes one as well. */
    private static final int KEYS_PER_STATEMENT = 512;

    private RowVersions() {}

    /** Takes what is found: the row of the ResultSet begins with row_key and version. */
    @FunctionalInterface
    interface Found {
      /** Of one row key there may be several. */
      void row(RowKey key, long version, ResultSet rs) throws SQLException;
    }

    /**
     * Everything that one of gameq's tables holds of rows.
     *
     * @param select the columns, {@code row_key, version} first, and the table
     * @param keys in any number, of any tables
     * @param ending of each SELECT, empty or a condition or a locking clause
     */
    static void read(
        Connection connection, String select, Collection<RowKey> keys, String ending, Found found)
        throws SQLException {
      Statements all = new Statements();
      add(all, select, keys, ending, found);
      all.run(connection);
    }

    /** Adds what {@link #read} asks to other statements. */
    static void add(
        Statements to, String select, Collection<RowKey> keys, String ending, Found found) {
      Sql.byTable(keys).forEach((table, of) -> add(to, select, table.name(), of, ending, found));
    }

    private static void add(
        Statements to, String select, String table, List<RowKey> keys, String ending, Found found) {
      Map<String, RowKey> byText = new LinkedHashMap<>();
      keys.forEach(key -> byText.put(key.keyText(), key)); // a row may be claimed and dirty at once
      for (List<String> some : Sql.chunks(List.copyOf(byText.keySet()), KEYS_PER_STATEMENT)) {
        List<String> texts = Sql.padded(some);
        to.addSelect(
            select
                + " WHERE table_name = ? AND row_key IN ("
                + Sql.marks(texts.size())
                + ")"
                + ending,
            rs -> {
              RowKey key = byText.get(rs.getString(1));
              if (key != null) {
                // a damaged version may be large
                found.row(key, Long.parseUnsignedLong(rs.getString(2)), rs);
              }
            },
            Stream.concat(Stream.of(table), texts.stream()).toArray());
      }
    }
  }
}
