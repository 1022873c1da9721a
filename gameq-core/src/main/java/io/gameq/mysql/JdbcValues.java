package io.gameq.mysql;

import io.gameq.GameQueueException;
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
import java.sql.Types;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.time.temporal.ChronoField;
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

  /**
   * The placeholder of a column in VALUES, for {@link #bind}. A BIT travels as a number: MySQL 9
   * takes its bytes for text when the statement has a row alias, and refuses them.
   */
  public static String placeholder(Column column) {
    return column.type().kind() == ColumnType.Kind.BIT ? "CAST(CAST(? AS CHAR) AS UNSIGNED)" : "?";
  }

  /** Sets parameter {@code index} to a canonical value, null for NULL. */
  public static void bind(
      PreparedStatement statement, int index, Column column, @Nullable Object canonical)
      throws SQLException {
    if (canonical == null) {
      statement.setNull(index, Types.NULL);
      return;
    }
    switch (column.type().kind()) {
      case INTEGER -> statement.setLong(index, (Long) canonical);
      case UNSIGNED_LONG -> bindUnsigned(statement, index, (BigInteger) canonical);
      // As text: MySQL casts a number above 2^63 by way of a signed one.
      case BIT -> statement.setString(index, canonical.toString());
      case DECIMAL -> statement.setBigDecimal(index, (BigDecimal) canonical);
      // By way of double: the shortest text of the largest float is larger than that float.
      case FLOAT -> statement.setString(index, Double.toString(((Float) canonical).doubleValue()));
      case DOUBLE -> statement.setString(index, canonical.toString());
      case TEXT, JSON, ENUM, SET -> statement.setString(index, (String) canonical);
      case BINARY -> statement.setBytes(index, (byte[]) canonical);
      case DATE, DATETIME, TIMESTAMP, TIME ->
          statement.setString(index, TemporalText.of(canonical));
    }
  }

  private static void bindUnsigned(PreparedStatement statement, int index, BigInteger value)
      throws SQLException {
    if (value.bitLength() < Long.SIZE) {
      statement.setLong(index, value.longValue());
    } else {
      // As a decimal: a BigInteger would travel as text, which MySQL compares as a double.
      statement.setBigDecimal(index, new BigDecimal(value));
    }
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
          case DATE, DATETIME, TIMESTAMP, TIME ->
              time(row.getString(index), column.type().kind(), column);
        };
    return row.wasNull() ? null : value;
  }

  /**
   * The primary key of a row whose key columns were selected in their order, from {@code at} on.
   */
  public static RowKey readKey(ResultSet row, int at, Table table) throws SQLException {
    @Nullable Object[] parts = new @Nullable Object[table.keyColumns().size()];
    for (int i = 0; i < parts.length; i++) {
      parts[i] = read(row, at + i, table.keyColumns().get(i));
    }
    return RowKey.ofKey(table, CanonicalRow.key(table, parts));
  }

  private static @Nullable BigInteger big(@Nullable String digits) {
    return digits == null ? null : new BigInteger(digits);
  }

  private static @Nullable Object time(@Nullable String text, ColumnType.Kind kind, Column column) {
    if (text == null) {
      return null;
    }
    try {
      return switch (kind) {
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
    private TemporalText() {}

    /** MySQL's text of a canonical value of DATE, DATETIME, TIMESTAMP or TIME. */
    public static String of(Object canonical) {
      if (canonical instanceof LocalDate date) {
        return date.toString();
      }
      if (canonical instanceof LocalDateTime time) {
        return text(time);
      }
      return canonical instanceof Instant instant
          ? text(LocalDateTime.ofInstant(instant, ZoneOffset.UTC))
          : text((Duration) canonical);
    }

    private static String text(LocalDateTime time) {
      StringBuilder out = new StringBuilder(26).append(time.toLocalDate()).append(' ');
      clock(out, time.getHour(), time.getMinute(), time.getSecond());
      return digits(out.append('.'), time.get(ChronoField.MICRO_OF_SECOND), 6).toString();
    }

    private static String text(Duration time) {
      Duration length = time.abs();
      StringBuilder out = new StringBuilder(17).append(time.isNegative() ? "-" : "");
      clock(out, (int) length.toHours(), length.toMinutesPart(), length.toSecondsPart());
      return digits(out.append('.'), length.toNanosPart() / 1_000, 6).toString();
    }

    private static void clock(StringBuilder out, int hours, int minutes, int seconds) {
      digits(out, hours, 2).append(':');
      digits(out, minutes, 2).append(':');
      digits(out, seconds, 2);
    }

    private static StringBuilder digits(StringBuilder out, int number, int width) {
      String text = Integer.toString(number);
      return out.append("0".repeat(Math.max(0, width - text.length()))).append(text);
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
}
