package io.gameq.mysql;

import io.gameq.rows.EncodedRow.RowKey;
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
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/** Runs statements over a connection, and has pieces of their text. Stateless. */
public final class Sql {
  private static final int NO_LIMIT = 0;

  private Sql() {}

  /** Takes the row that a ResultSet is at. */
  @FunctionalInterface
  public interface Row {
    void take(ResultSet rs) throws SQLException;
  }

  /** Makes something of the row that a ResultSet is at. */
  @FunctionalInterface
  public interface Reader<T> {
    T read(ResultSet rs) throws SQLException;
  }

  /** Runs a statement with these arguments; returns how many rows it changed. */
  public static int execute(Connection connection, String sql, @Nullable Object... arguments)
      throws SQLException {
    return executeWithin(connection, NO_LIMIT, sql, arguments);
  }

  /** The same; a statement that takes longer than so many seconds is ended, 0 for no limit. */
  public static int executeWithin(
      Connection connection, int mostSeconds, String sql, @Nullable Object... arguments)
      throws SQLException {
    try (PreparedStatement statement = connection.prepareStatement(sql)) {
      statement.setQueryTimeout(mostSeconds);
      bind(statement, 1, arguments);
      return statement.executeUpdate();
    }
  }

  /** Hands over each row that a query finds. */
  public static void select(
      Connection connection, String sql, Row row, @Nullable Object... arguments)
      throws SQLException {
    selectWithin(connection, NO_LIMIT, sql, row, arguments);
  }

  private static void selectWithin(
      Connection connection, int mostSeconds, String sql, Row row, @Nullable Object... arguments)
      throws SQLException {
    try (PreparedStatement statement = connection.prepareStatement(sql)) {
      statement.setQueryTimeout(mostSeconds);
      bind(statement, 1, arguments);
      try (ResultSet rs = statement.executeQuery()) {
        while (rs.next()) {
          row.take(rs);
        }
      }
    }
  }

  /** All rows that a query finds. */
  public static <T> List<T> list(
      Connection connection, String sql, Reader<T> reader, @Nullable Object... arguments)
      throws SQLException {
    return listWithin(connection, NO_LIMIT, sql, reader, arguments);
  }

  /** The same; a query that takes longer than so many seconds is ended, 0 for no limit. */
  public static <T> List<T> listWithin(
      Connection connection,
      int mostSeconds,
      String sql,
      Reader<T> reader,
      @Nullable Object... arguments)
      throws SQLException {
    List<T> found = new ArrayList<>();
    selectWithin(connection, mostSeconds, sql, rs -> found.add(reader.read(rs)), arguments);
    return found;
  }

  /** The first row that a query finds, or null. */
  public static <T> @Nullable T first(
      Connection connection, String sql, Reader<T> reader, @Nullable Object... arguments)
      throws SQLException {
    List<T> found = list(connection, sql, reader, arguments);
    return found.isEmpty() ? null : found.get(0);
  }

  /** Whether a query finds a row. */
  public static boolean exists(Connection connection, String sql, @Nullable Object... arguments)
      throws SQLException {
    return first(connection, sql, rs -> true, arguments) != null;
  }

  /** Sets parameters from index {@code at} on; returns the next index. */
  static int bind(PreparedStatement statement, int at, @Nullable Object... arguments)
      throws SQLException {
    for (int i = 0; i < arguments.length; i++) {
      Object argument = arguments[i];
      if (argument instanceof Long number) { // what most are: setObject looks for their class
        statement.setLong(at + i, number);
      } else if (argument instanceof String text) {
        statement.setString(at + i, text);
      } else if (argument instanceof byte[] bytes) {
        statement.setBytes(at + i, bytes);
      } else {
        statement.setObject(at + i, argument);
      }
    }
    return at + arguments.length;
  }

  /** A time of a column in UTC. */
  public static Instant instant(ResultSet rs, int column) throws SQLException {
    return rs.getObject(column, LocalDateTime.class).toInstant(ZoneOffset.UTC);
  }

  /** Rows by their tables. */
  public static Map<Table, List<RowKey>> byTable(Collection<RowKey> keys) {
    return keys.stream().collect(Collectors.groupingBy(RowKey::table));
  }

  /** {@code ?,?,?} */
  public static String marks(int count) {
    return rows("?", count);
  }

  /** {@code row,row,row} */
  public static String rows(String row, int count) {
    return String.join(",", Collections.nCopies(count, row));
  }

  /** A condition on the primary key, for {@code rows} rows; uses the primary key's index. */
  public static String keyIn(Table table, int rows) {
    List<Column> key = table.keyColumns();
    return key.size() == 1
        ? JdbcValues.quoted(key.get(0).name()) + " IN (" + marks(rows) + ")"
        : anyOf(keyEquals(table), rows); // row constructors: MariaDB scans
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

  /** The arguments of {@link #keyIn}, or of {@link #keyEquals}. */
  public static List<@Nullable Object> keyArguments(Table table, Collection<RowKey> keys) {
    List<@Nullable Object> arguments = new ArrayList<>();
    for (RowKey key : keys) {
      Object[] parts = key.parts();
      for (int i = 0; i < parts.length; i++) {
        arguments.add(JdbcValues.parameter(table.keyColumns().get(i), parts[i]));
      }
    }
    return arguments;
  }

  /**
   * The same values, some repeated at the end, in a number that is a power of two: so that few
   * statements are prepared. For IN lists.
   */
  public static <T> List<T> padded(List<T> values) {
    int size = values.size();
    if (size <= 1) { // nearly every one of an open
      return values;
    }
    int rounded = Integer.highestOneBit(size - 1) << 1;
    return IntStream.range(0, rounded).mapToObj(i -> values.get(Math.min(i, size - 1))).toList();
  }

  public static <T> List<List<T>> chunks(List<T> all, int size) {
    List<List<T>> chunks = new ArrayList<>();
    for (int from = 0; from < all.size(); from += size) {
      chunks.add(all.subList(from, Math.min(all.size(), from + size)));
    }
    return chunks;
  }
}
