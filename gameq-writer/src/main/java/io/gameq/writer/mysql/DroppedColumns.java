package io.gameq.writer.mysql;

import io.gameq.mysql.MySqlPool.MySql;
import io.gameq.mysql.Sql;
import io.gameq.mysql.schema.CatalogReader;
import io.gameq.rows.Table;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;

/**
 * Columns that are dropped on purpose, in {@code gameq_dropped_column}. Thread-safe; all throw
 * {@link io.gameq.MySqlException} when MySQL does not answer.
 */
public final class DroppedColumns {
  private final MySql mysql;

  /** Over connections that somebody else closes. */
  public DroppedColumns(MySql mysql) {
    this.mysql = mysql;
  }

  /** Rows that name this column are to be written without it once the table lacks it. */
  public void announce(String table, String column) {
    mysql.execute(
        "INSERT IGNORE INTO gameq_dropped_column (table_name, column_name, announced_at) VALUES (?,"
            + " ?, UTC_TIMESTAMP(3))",
        table,
        column);
  }

  /** Takes that back; returns whether it was announced. */
  public boolean withdraw(String table, String column) {
    String sql = "DELETE FROM gameq_dropped_column WHERE table_name = ? AND column_name = ?";
    return mysql.execute(sql, table, column) > 0;
  }

  /**
   * Names of all columns that rows of a table were ever encoded with, as far as they are known. The
   * set takes capitals and small letters for the same, as MySQL does.
   */
  public Set<String> everKnown(String table) {
    return mysql.ask(handle -> everKnown(handle.getConnection(), table));
  }

  private static Set<String> everKnown(Connection connection, String table) throws SQLException {
    Set<String> known = new TreeSet<>(String.CASE_INSENSITIVE_ORDER);
    Sql.select(
        connection,
        "SELECT columns FROM gameq_layout WHERE table_name = ?",
        rs -> known.addAll(Table.namesInLayout(rs.getString(1))),
        table);
    return known;
  }

  /**
   * What is odd about the columns of a managed table: some are gone and nobody announced it, or are
   * announced and there. Empty where gameq's own tables are missing.
   */
  public List<String> oddities(String table) {
    return mysql.ask(handle -> oddities(handle.getConnection(), table));
  }

  private static List<String> oddities(Connection connection, String table) throws SQLException {
    List<String> own =
        Sql.list(
            connection,
            "SELECT TABLE_NAME FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE() AND"
                + " TABLE_NAME IN ('gameq_layout', 'gameq_dropped_column')",
            rs -> rs.getString(1));
    if (own.size() < 2) {
      return List.of();
    }
    Set<String> there = new TreeSet<>(String.CASE_INSENSITIVE_ORDER);
    Sql.select(
        connection,
        "SELECT COLUMN_NAME FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = DATABASE() AND"
            + " TABLE_NAME = ?",
        rs -> there.add(rs.getString(1)),
        table);
    Set<String> announced = new TreeSet<>(String.CASE_INSENSITIVE_ORDER);
    announced.addAll(CatalogReader.dropped(connection).getOrDefault(table, Set.of()));
    Set<String> gone = everKnown(connection, table);
    gone.removeAll(there);
    gone.removeAll(announced);
    List<String> found = new ArrayList<>();
    if (!gone.isEmpty()) {
      found.add(
          ("rows were once written with %s, which the table lacks: such rows would wait, so where"
                  + " that was dropped on purpose run 'schema drop-column %s %s'")
              .formatted(String.join(" and ", gone), table, String.join(" ", gone)));
    }
    announced.retainAll(there);
    for (String column : announced) {
      found.add(
          ("column %1$s is announced as dropped and is there: drop it, or take that back by 'schema"
                  + " drop-column --undo %2$s %1$s'")
              .formatted(column, table));
    }
    return found;
  }
}
