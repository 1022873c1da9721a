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
 * Looks for values that a server without strict mode took: dates that do not exist, such as
 * 0000-00-00, for which Java has no value, so that an owner with one cannot be opened; and the
 * empty text of an ENUM that has no such member, which MySQL does not take back. Stateless.
 */
final class LaxValues {
  private static final int MOST_SECONDS = 10;

  private LaxValues() {}

  /** Warnings of one table; reads it whole for each column of such a type, for at most 10 s. */
  static List<String> look(Connection connection, String table) throws SQLException {
    List<String> warnings = new ArrayList<>();
    try (PreparedStatement statement =
        connection.prepareStatement(
            "SELECT COLUMN_NAME, COALESCE(COLUMN_DEFAULT, '') LIKE '%-00%', DATA_TYPE = 'enum' FROM"
                + " information_schema.COLUMNS WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = ?"
                + " AND DATA_TYPE IN ('date', 'datetime', 'timestamp', 'enum') ORDER BY"
                + " ORDINAL_POSITION")) {
      statement.setString(1, table);
      try (ResultSet rs = statement.executeQuery()) {
        while (rs.next()) {
          String column = rs.getString(1);
          if (rs.getBoolean(2)) {
            warnings.add(
                ("column %s has a date with a zero in it for its default, which Java has"
                        + " no value for: change the default")
                    .formatted(column));
          }
          warnings.addAll(
              rs.getBoolean(3)
                  ? enums(connection, table, column)
                  : dates(connection, table, column));
        }
      }
    }
    return warnings;
  }

  private static List<String> dates(Connection connection, String table, String column)
      throws SQLException {
    String text = "CAST(%s AS CHAR)".formatted(JdbcValues.quoted(column));
    return look(
        connection,
        table,
        column,
        "dates that do not exist",
        ("%1$s LIKE '%%-00%%' OR SUBSTR(%1$s, 9, 2) >"
                + " DAY(LAST_DAY(CONCAT(SUBSTR(%1$s, 1, 8), '01')))")
            .formatted(text),
        "such as 0000-00-00 or 2004-02-31, which Java has no value for: owners with such a row"
            + " cannot be opened until it is corrected");
  }

  private static List<String> enums(Connection connection, String table, String column)
      throws SQLException {
    return look(
        connection,
        table,
        column,
        "the empty text of values that were no member",
        JdbcValues.quoted(column) + " = 0",
        "which MySQL does not take any more: such a row is refused until an update gives the column"
            + " a member");
  }

  private static List<String> look(
      Connection connection, String table, String column, String what, String where, String so)
      throws SQLException {
    try (Statement statement = connection.createStatement()) {
      statement.setQueryTimeout(MOST_SECONDS);
      try (ResultSet rs =
          statement.executeQuery(
              "SELECT 1 FROM " + JdbcValues.quoted(table) + " WHERE " + where + " LIMIT 1")) {
        return rs.next()
            ? List.of("column %s holds %s, %s".formatted(column, what, so))
            : List.of();
      }
    } catch (SQLException e) {
      if (ErrorKind.of(e) != ErrorKind.SLOW) {
        throw e;
      }
      return List.of(
          "column %s was not searched whole for %s: it took longer than %s s"
              .formatted(column, what, MOST_SECONDS));
    }
  }
}
