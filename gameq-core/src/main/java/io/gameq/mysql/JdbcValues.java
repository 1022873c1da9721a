package io.gameq.mysql;

import io.gameq.GameQueueException;
import io.gameq.RowRefusedException;
import io.gameq.rows.CanonicalRow;
import io.gameq.rows.EncodedRow.RowKey;
import io.gameq.rows.Table;
import io.gameq.rows.Table.Column;
import io.gameq.rows.types.ColumnType;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.DateTimeException;
import java.util.Collection;
import java.util.List;
import java.util.Random;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Carries canonical values into statements and out of result sets, bit for bit, on MySQL and
 * MariaDB, prepared on the server or by the driver, as each {@link ColumnType} says. Stateless.
 */
public final class JdbcValues {
  private JdbcValues() {}

  /** An identifier in backticks. */
  public static String quoted(String identifier) {
    return "`" + identifier.replace("`", "``") + "`";
  }

  /** What to select so that {@link #read} gets the exact value. */
  public static String selectExpression(Column column) {
    // Not formatted: each read of an owner asks this of each column.
    return column.type().jdbc().select().replace("%s", quoted(column.name()));
  }

  /** The same of several columns, with commas in between. */
  public static String selectExpressions(Collection<Column> columns) {
    return columns.stream().map(JdbcValues::selectExpression).collect(Collectors.joining(", "));
  }

  /** What to set a parameter to for a canonical value, null for NULL. */
  public static @Nullable Object parameter(Column column, @Nullable Object canonical) {
    return canonical == null ? null : column.type().jdbc().toParameter().apply(canonical);
  }

  /**
   * The canonical value of a column selected by {@link #selectExpression}.
   *
   * @throws GameQueueException when the column holds what Java has no value for: the date
   *     0000-00-00
   */
  public static @Nullable Object read(ResultSet row, int index, Column column) throws SQLException {
    Object value = row.getObject(index, column.type().jdbc().type());
    if (value == null || row.wasNull()) {
      return null;
    }
    try {
      return column.type().jdbc().ofResult().apply(value);
    } catch (DateTimeException e) {
      throw new GameQueueException(
          column.label()
              + " holds a date that does not exist, such as 0000-00-00 or 2004-02-31: correct it in"
              + " MySQL",
          e);
    }
  }

  /** The values of columns that were selected in their order, from {@code at} on. */
  public static @Nullable Object[] read(ResultSet row, int at, List<Column> columns)
      throws SQLException {
    @Nullable Object[] values = new @Nullable Object[columns.size()];
    for (int i = 0; i < values.length; i++) {
      values[i] = read(row, at + i, columns.get(i));
    }
    return values;
  }

  /**
   * The primary key of a row whose key columns were selected in their order, from {@code at} on.
   */
  public static RowKey readKey(ResultSet row, int at, Table table) throws SQLException {
    return RowKey.ofKey(table, CanonicalRow.key(table, read(row, at, table.keyColumns())));
  }

  /** Values for a moment within a transaction, which other rows are unlikely to have. Stateless. */
  public static final class SpareValues {
    private static final String CHARACTERS = "abcdefghijklmnopqrstuvwxyz0123456789";
    private static final int MOST_CHARACTERS = 32;
    private static final int MOST_BITS = Long.SIZE - 3;

    private SpareValues() {}

    /** Whether there are any for a column. */
    public static boolean exist(Column column) {
      ColumnType type = column.type();
      return column.nullable() || type.isText() || type.valueClass() == Long.class;
    }

    /** A canonical value: NULL where that may be, else one of many that the column can hold. */
    public static @Nullable Object next(Column column, Random random) {
      if (column.nullable()) {
        return null;
      }
      boolean isText = column.type().isText();
      for (int size = isText ? MOST_CHARACTERS : MOST_BITS; size > 0; size--) {
        try {
          Object value = isText ? text(size, random) : random.nextLong(1L << size, 2L << size);
          return column.type().canonical(value, column.label());
        } catch (RowRefusedException e) {
          // too large for the column
        }
      }
      throw new IllegalStateException("no spare value for " + column.label());
    }

    private static String text(int length, Random random) {
      return random
          .ints(length, 0, CHARACTERS.length())
          .mapToObj(i -> CHARACTERS.substring(i, i + 1))
          .collect(Collectors.joining());
    }
  }
}
