package io.gameq.mysql.schema;

import io.gameq.mysql.JdbcValues;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import org.jdbi.v3.core.Handle;

/** What a server says of single tables: their text, their size. Used by one thread. */
final class TableTexts {
  private static final long MIB = 1L << 20;

  private final Handle handle;
  private final Map<String, String> createTables = new HashMap<>();

  TableTexts(Handle handle) {
    this.handle = handle;
  }

  /** SHOW CREATE TABLE; asked once. */
  String createTable(String table) throws SQLException {
    String known = createTables.get(table);
    if (known != null) {
      return known;
    }
    // By JDBC itself: Jdbi would take ':' and '?' in a name for parameters.
    try (Statement statement = handle.getConnection().createStatement();
        ResultSet row = statement.executeQuery("SHOW CREATE TABLE " + JdbcValues.quoted(table))) {
      row.next();
      String text = row.getString(2);
      createTables.put(table, text);
      return text;
    }
  }

  boolean isPartitioned(String table) throws SQLException {
    return createTable(table).contains("PARTITION BY");
  }

  /** What it costs to alter a table, in words. */
  String cost(String table) throws SQLException {
    try (PreparedStatement statement =
        handle
            .getConnection()
            .prepareStatement(
                "SELECT TABLE_ROWS, DATA_LENGTH + INDEX_LENGTH FROM information_schema.TABLES"
                    + " WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = ?")) {
      statement.setString(1, table);
      try (ResultSet row = statement.executeQuery()) {
        return row.next()
            ? String.format(
                Locale.ROOT,
                "copies table %s (rows: about %,d; %,d MiB), and who writes it waits meanwhile",
                table,
                row.getLong(1),
                (row.getLong(2) + MIB - 1) / MIB)
            : "copies table " + table;
      }
    }
  }
}
