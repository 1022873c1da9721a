package io.gameq.mysql;

import io.gameq.GameQueueException;
import io.gameq.RowRefusedException;
import io.gameq.rows.CanonicalRow;
import io.gameq.rows.EncodedRow.RowKey;
import io.gameq.rows.Table;
import io.gameq.rows.Table.Column;
import io.gameq.rows.types.ColumnType;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.Collection;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Carries canonical values into statements and out of result sets, bit for bit, on MySQL and
 * MariaDB, prepared on the server or by the driver. Stateless.
 *
 * <p>Times travel as text, since the driver's own conversions know neither TIME beyond a day nor
 * dates without a zone. Floating-point numbers travel as text in the one direction, since the
 * driver writes -0.0 as the decimal 0, and multiplied by one in the other, since MySQL prints a
 * FLOAT with six digits.
 */
public final class JdbcValues {
  private JdbcValues() {}

  /** An identifier in backticks. */
  public static String quoted(String identifier) {
    return "`" + identifier.replace("`", "``") + "`";
  }

  /** What to select so that {@link #read} gets the exact value. */
  public static String selectExpression(Column column) {
    String name = quoted(column.name());
    return switch (column.type().kind()) {
      case DATE, DATETIME, TIMESTAMP, TIME -> "CAST(" + name + " AS CHAR)";
      // Multiplied, not added to zero: -0.0 + 0 is 0.
      case FLOAT, DOUBLE -> name + " * 1e0";
      case BIT -> "CAST(" + name + " AS UNSIGNED)";
      default -> name;
    };
  }

  /** The same of several columns, with commas in between. */
  public static String selectExpressions(Collection<Column> columns) {
    return columns.stream().map(JdbcValues::selectExpression).collect(Collectors.joining(", "));
  }

  /**
   * The placeholder of a column in VALUES, for {@link #argument}. A BIT travels as a number: MySQL
   * 9 takes its bytes for text when the statement has a row alias, and refuses them.
   */
  public static String placeholder(Column column) {
    return column.type().kind() == ColumnType.Kind.BIT ? "CAST(CAST(? AS CHAR) AS UNSIGNED)" : "?";
  }

  /** Sets parameter {@code index} to a canonical value, null for NULL. */
  public static void bind(
      PreparedStatement statement, int index, Column column, @Nullable Object canonical)
      throws SQLException {
    statement.setObject(index, canonical == null ? null : argument(column, canonical));
  }

  /** What a parameter is to be set to for a canonical value. */
  public static Object argument(Column column, Object canonical) {
    return switch (column.type().kind()) {
      case UNSIGNED_LONG -> {
        BigInteger value = (BigInteger) canonical;
        // As a decimal: a BigInteger would travel as text, which MySQL compares as a double.
        yield value.bitLength() < Long.SIZE ? value.longValue() : new BigDecimal(value);
      }
      // By way of double: the shortest text of the largest float is larger than that float.
      case FLOAT -> Double.toString(((Float) canonical).doubleValue());
      // As text: MySQL casts a number above 2^63 by way of a signed one.
      case BIT, DOUBLE -> canonical.toString();
      case DATE, DATETIME, TIMESTAMP, TIME -> TemporalText.of(canonical);
      case INTEGER, DECIMAL, TEXT, JSON, ENUM, SET, BINARY -> canonical;
    };
  }

  /**
   * The canonical value of a column selected by {@link #selectExpression}.
   *
   * @throws GameQueueException when the column holds what Java has no value for: the date
   *     0000-00-00
   */
  public static @Nullable Object read(ResultSet row, int index, Column column) throws SQLException {
    Object value =
        switch (column.type().kind()) {
          case INTEGER -> row.getLong(index);
          case UNSIGNED_LONG, BIT -> big(row.getString(index));
          case DECIMAL -> row.getBigDecimal(index);
          case FLOAT -> (float) row.getDouble(index);
          case DOUBLE -> row.getDouble(index);
          case TEXT, JSON, ENUM, SET -> row.getString(index);
          case BINARY -> row.getBytes(index);
          case DATE, DATETIME, TIMESTAMP, TIME -> time(row.getString(index), column);
        };
    return row.wasNull() ? null : value;
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

  private static @Nullable BigInteger big(@Nullable String digits) {
    return digits == null ? null : new BigInteger(digits);
  }

  private static @Nullable Object time(@Nullable String text, Column column) {
    if (text == null) {
      return null;
    }
    try {
      return switch (column.type().kind()) {
        case DATE -> LocalDate.parse(text);
        case DATETIME -> dateTime(text);
        case TIMESTAMP -> dateTime(text).toInstant(ZoneOffset.UTC);
        default -> TemporalText.duration(text);
      };
    } catch (DateTimeException e) {
      throw new GameQueueException(
          column.label()
              + " holds a date that does not exist, such as 0000-00-00 or 2004-02-31: correct it in"
              + " MySQL",
          e);
    }
  }

  private static LocalDateTime dateTime(String text) {
    return LocalDateTime.parse(text.replace(' ', 'T'));
  }

  /** Writes and reads times as MySQL does. Stateless. */
  public static final class TemporalText {
    private static final DateTimeFormatter DATE_TIME =
        DateTimeFormatter.ofPattern("uuuu-MM-dd HH:mm:ss.SSSSSS", Locale.ROOT)
            .withZone(ZoneOffset.UTC);

    private TemporalText() {}

    /** MySQL's text of a canonical value of DATE, DATETIME, TIMESTAMP or TIME. */
    public static String of(Object canonical) {
      if (canonical instanceof LocalDateTime time) {
        return DATE_TIME.format(time);
      }
      if (canonical instanceof Instant instant) {
        return DATE_TIME.format(instant);
      }
      return canonical instanceof Duration time ? text(time) : canonical.toString();
    }

    private static String text(Duration time) {
      Duration length = time.abs();
      return String.format(
          Locale.ROOT,
          "%s%02d:%02d:%02d.%06d",
          time.isNegative() ? "-" : "",
          length.toHours(),
          length.toMinutesPart(),
          length.toSecondsPart(),
          length.toNanosPart() / 1_000);
    }

    /** Reads {@code -838:59:59.000000}. */
    public static Duration duration(String text) {
      boolean negative = text.startsWith("-");
      String[] parts = text.substring(negative ? 1 : 0).split("[:.]", 4);
      String fraction = parts.length > 3 ? parts[3] : "";
      Duration length =
          Duration.ofHours(Long.parseLong(parts[0]))
              .plusMinutes(Long.parseLong(parts[1]))
              .plusSeconds(Long.parseLong(parts[2]))
              .plusNanos(Long.parseLong((fraction + "000000000").substring(0, 9)));
      return negative ? length.negated() : length;
    }
  }

  /** Values for a moment within a transaction, which other rows are unlikely to have. Stateless. */
  public static final class SpareValues {
    private static final String CHARACTERS = "abcdefghijklmnopqrstuvwxyz0123456789";
    private static final int MOST_CHARACTERS = 32;
    private static final int MOST_BITS = Long.SIZE - 3;

    private SpareValues() {}

    /** Whether there are any for a column. */
    public static boolean exist(Column column) {
      ColumnType.Kind kind = column.type().kind();
      return column.nullable() || kind == ColumnType.Kind.INTEGER || kind == ColumnType.Kind.TEXT;
    }

    /** A canonical value: NULL where that may be, else one of many that the column can hold. */
    public static @Nullable Object next(Column column, Random random) {
      if (column.nullable()) {
        return null;
      }
      boolean isText = column.type().kind() == ColumnType.Kind.TEXT;
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
