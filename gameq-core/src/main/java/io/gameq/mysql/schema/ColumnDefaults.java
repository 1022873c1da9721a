package io.gameq.mysql.schema;

import io.gameq.GameQueueException;
import io.gameq.mysql.TemporalText;
import io.gameq.mysql.schema.SchemaSnapshot.ColumnFacts;
import io.gameq.rows.types.ColumnDefault;
import io.gameq.rows.types.ColumnType;
import io.gameq.rows.types.SqlText;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.time.DateTimeException;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Reads a column's default from information_schema, where MySQL gives a value and MariaDB gives
 * SQL. Stateless.
 *
 * <p>What cannot be told for certain the game must give.
 */
final class ColumnDefaults {
  private static final Pattern NOW = Pattern.compile("(?i)current_timestamp(?:\\((\\d?)\\))?");
  private static final Pattern NUMBER = Pattern.compile("-?[0-9.]+(?:[eE][-+]?[0-9]+)?");
  private static final Pattern BITS = Pattern.compile("b'([01]*)'");

  private ColumnDefaults() {}

  static ColumnDefault of(ColumnFacts column, ColumnType type, boolean mariaDb) {
    if (column.extraHas("auto_increment")) {
      return ColumnDefault.NUMBERED;
    }
    String text = column.defaultText();
    if (text == null || (mariaDb && text.equals("NULL"))) {
      return column.nullable() ? ColumnDefault.NULL : ColumnDefault.NONE;
    }
    boolean sql = mariaDb || column.extraHas("default_generated");
    Matcher now = NOW.matcher(text);
    if (sql && now.matches()) {
      String digits = now.group(1);
      return isDateTime(type)
          ? new ColumnDefault.Now(digits == null || digits.isEmpty() ? 0 : Integer.parseInt(digits))
          : ColumnDefault.OF_MYSQL;
    }
    String literal = sql ? literal(text) : text;
    Object value = literal == null || (sql && !mariaDb) ? null : constant(literal, type, mariaDb);
    return value == null ? ColumnDefault.OF_MYSQL : new ColumnDefault.Constant(value);
  }

  private static boolean isDateTime(ColumnType type) {
    return type.kind() == ColumnType.Kind.TIMESTAMP || type.kind() == ColumnType.Kind.DATETIME;
  }

  /** The value of a SQL literal, or null for any other expression. */
  private static @Nullable String literal(String sql) {
    if (NUMBER.matcher(sql).matches() || BITS.matcher(sql).matches()) {
      return sql;
    }
    if (!sql.startsWith("'") || !sql.endsWith("'")) {
      return null;
    }
    List<String> strings = SqlText.quoted(sql);
    return strings.size() == 1 ? strings.get(0) : null;
  }

  private static @Nullable Object constant(String text, ColumnType type, boolean mariaDb) {
    try {
      Object value =
          switch (type.kind()) {
            case INTEGER, UNSIGNED_LONG, DECIMAL -> new BigDecimal(text);
            case BIT -> bits(text);
            case FLOAT -> Float.valueOf(text);
            case DOUBLE -> Double.valueOf(text);
            case TEXT, JSON, ENUM, SET -> text;
            case BINARY -> bytes(text, mariaDb);
            case DATE -> LocalDate.parse(text);
            case DATETIME -> LocalDateTime.parse(text.replace(' ', 'T'));
            case TIME -> TemporalText.duration(text);
            // In the time zone of the session that created the column, which nobody knows any more.
            case TIMESTAMP -> null;
          };
      return value == null ? null : type.canonical(value, "default");
    } catch (GameQueueException | IllegalArgumentException | DateTimeException e) {
      return null;
    }
  }

  private static @Nullable BigInteger bits(String text) {
    Matcher bits = BITS.matcher(text);
    return bits.matches() ? new BigInteger("0" + bits.group(1), 2) : null;
  }

  private static byte @Nullable [] bytes(String text, boolean mariaDb) {
    if (!mariaDb) {
      return text.toLowerCase(Locale.ROOT).startsWith("0x")
          ? HexFormat.of().parseHex(text.substring(2))
          : text.isEmpty() ? new byte[0] : null;
    }
    byte[] ascii = text.getBytes(StandardCharsets.US_ASCII);
    return new String(ascii, StandardCharsets.US_ASCII).equals(text) ? ascii : null;
  }
}
