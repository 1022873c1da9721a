package io.gameq.writer.mysql;

import io.gameq.mysql.ErrorKind;
import io.gameq.mysql.JdbcValues;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;

/**
 * Looks for dates with a zero in month or day, such as 0000-00-00: Java has no value for them, so
 * an owner with one cannot be opened. Stateless.
 */
final class ZeroDates {
  private static final int MOST_SECONDS = 10;

  private ZeroDates() {}

  /** Warnings of one table; reads it whole for each column of dates, for at most 10 s. */
  static List<String> look(Connection connection, String table) throws SQLException {
    List<String> columns = new ArrayList<>();
    List<String> warnings = new ArrayList<>();
    try (PreparedStatement statement =
        connection.prepareStatement(
            "SELECT COLUMN_NAME, COALESCE(COLUMN_DEFAULT, '') LIKE '%-00%' FROM"
                + " information_schema.COLUMNS WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = ?"
                + " AND DATA_TYPE IN ('date', 'datetime', 'timestamp') ORDER BY"
                + " ORDINAL_POSITION")) {
      statement.setString(1, table);
      try (ResultSet rs = statement.executeQuery()) {
        while (rs.next()) {
          columns.add(rs.getString(1));
          if (rs.getBoolean(2)) {
            warnings.add(
                ("column %s has a date with a zero in it for its default, which Java has"
                        + " no value for: change the default")
                    .formatted(rs.getString(1)));
          }
        }
      }
    }
    for (String column : columns) {
      look(connection, table, column, warnings);
    }
    return warnings;
  }

  private static void look(
      Connection connection, String table, String column, List<String> warnings)
      throws SQLException {
    try (Statement statement = connection.createStatement()) {
      statement.setQueryTimeout(MOST_SECONDS);
      try (ResultSet rs =
          statement.executeQuery(
              "SELECT 1 FROM %s WHERE CAST(%s AS CHAR) LIKE '%%-00%%' LIMIT 1"
                  .formatted(JdbcValues.quoted(table), JdbcValues.quoted(column)))) {
        if (rs.next()) {
          warnings.add(
              ("column %s holds dates with a zero in them, such as 0000-00-00, which Java"
                      + " has no value for: owners with such a row cannot be opened until it is"
                      + " corrected")
                  .formatted(column));
        }
      }
    } catch (SQLException e) {
      if (ErrorKind.of(e) != ErrorKind.SLOW) {
        throw e;
      }
      warnings.add(
          ("column %s was not searched whole for dates with a zero in them: it took longer than"
                  + " %s s")
              .formatted(column, MOST_SECONDS));
    }
  }
}
