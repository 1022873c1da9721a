package io.gameq.mysql.tables;

import io.gameq.mysql.Sql;
import io.gameq.mysql.Statements;
import io.gameq.rows.RowKey;
import io.gameq.rows.Table;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Looks rows up in those of gameq's own tables that hold a version for each row key. Stateless. */
final class RowVersions {
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
   * @param keys of rows of {@code table}, in any number
   * @param ending of each SELECT, empty or a locking clause
   */
  static void read(
      Connection connection,
      String select,
      Table table,
      Collection<RowKey> keys,
      String ending,
      Found found)
      throws SQLException {
    Statements all = new Statements();
    add(all, select, table, keys, ending, found);
    boolean unused = all.run(connection);
  }

  /** Adds what {@link #read} asks to other statements. */
  static void add(
      Statements to,
      String select,
      Table table,
      Collection<RowKey> keys,
      String ending,
      Found found) {
    Map<String, RowKey> byText = new LinkedHashMap<>();
    keys.forEach(key -> byText.put(key.keyText(), key)); // a row may be claimed and dirty at once
    for (List<String> chunk : Sql.chunks(List.copyOf(byText.keySet()), KEYS_PER_STATEMENT)) {
      List<String> some = Sql.padded(chunk);
      to.addSelect(
          select + " WHERE table_name = ? AND row_key IN (" + Sql.marks(some.size()) + ")" + ending,
          (statement, at) -> {
            statement.setString(at, table.name());
            return Sql.bindTexts(statement, at + 1, some);
          },
          rs -> {
            while (rs.next()) {
              RowKey key = byText.get(rs.getString(1));
              if (key != null) {
                long version =
                    Long.parseUnsignedLong(rs.getString(2)); // a damaged one may be large
                found.row(key, version, rs);
              }
            }
          });
    }
  }
}
