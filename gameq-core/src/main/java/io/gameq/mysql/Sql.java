package io.gameq.mysql;

import io.gameq.rows.Table;
import io.gameq.rows.Table.Column;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.stream.Collectors;

/** Pieces of SQL text. Stateless. */
public final class Sql {
  private Sql() {}

  /** {@code ?,?,?} */
  public static String marks(int count) {
    return "?,".repeat(count - 1) + "?";
  }

  /** {@code row,row,row} */
  public static String rows(String row, int count) {
    return String.join(",", Collections.nCopies(count, row));
  }

  /** Runs a statement with these arguments; returns how many rows it changed. */
  public static int execute(Connection connection, String sql, Object... arguments)
      throws SQLException {
    try (PreparedStatement statement = prepared(connection, sql, arguments)) {
      return statement.executeUpdate();
    }
  }

  /** Whether a query finds a row. */
  public static boolean exists(Connection connection, String sql, Object... arguments)
      throws SQLException {
    try (PreparedStatement statement = prepared(connection, sql, arguments);
        ResultSet rs = statement.executeQuery()) {
      return rs.next();
    }
  }

  private static PreparedStatement prepared(Connection connection, String sql, Object... arguments)
      throws SQLException {
    PreparedStatement statement = connection.prepareStatement(sql);
    for (int i = 0; i < arguments.length; i++) {
      statement.setObject(i + 1, arguments[i]);
    }
    return statement;
  }

  /** A time of a column in UTC. */
  public static Instant instant(ResultSet rs, int column) throws SQLException {
    return rs.getObject(column, LocalDateTime.class).toInstant(ZoneOffset.UTC);
  }

  /**
   * A condition on the primary key that {@link #bindKey} fills, for {@code rows} rows; uses the
   * primary key's index.
   */
  public static String keyIn(Table table, int rows) {
    List<Column> key = table.keyColumns();
    if (key.size() == 1) {
      return JdbcValues.quoted(key.get(0).name()) + " IN (" + marks(rows) + ")";
    }
    return anyOf(keyEquals(table), rows); // row constructors: MariaDB scans
  }

  /** {@code (condition) OR (condition) ...}, one for each row. */
  public static String anyOf(String condition, int rows) {
    return String.join(" OR ", Collections.nCopies(rows, "(" + condition + ")"));
  }

  /** {@code k1 = ? AND k2 = ?} */
  public static String keyEquals(Table table) {
    return table.keyColumns().stream()
        .map(c -> JdbcValues.quoted(c.name()) + " = ?")
        .collect(Collectors.joining(" AND "));
  }

  /** Binds the parts of a primary key from {@code at} on; returns the next index. */
  public static int bindKey(PreparedStatement statement, int at, Table table, Object[] parts)
      throws SQLException {
    int next = at;
    for (int i = 0; i < parts.length; i++) {
      JdbcValues.bind(statement, next++, table.keyColumns().get(i), parts[i]);
    }
    return next;
  }

  /** Binds texts from {@code at} on; returns the next index. */
  public static int bindTexts(PreparedStatement statement, int at, List<String> texts)
      throws SQLException {
    int next = at;
    for (String text : texts) {
      statement.setString(next++, text);
    }
    return next;
  }

  /**
   * The same values, some repeated at the end, in a number that is a power of two: so that few
   * statements are prepared. For IN lists.
   */
  public static <T> List<T> padded(List<T> values) {
    int size = values.size();
    int rounded = size <= 1 ? size : Integer.highestOneBit(size - 1) << 1;
    List<T> padded = new ArrayList<>(rounded);
    padded.addAll(values);
    while (padded.size() < rounded) {
      padded.add(values.get(size - 1));
    }
    return padded;
  }

  public static <T> List<List<T>> chunks(List<T> all, int size) {
    List<List<T>> chunks = new ArrayList<>();
    for (int from = 0; from < all.size(); from += size) {
      chunks.add(all.subList(from, Math.min(all.size(), from + size)));
    }
    return chunks;
  }
}
