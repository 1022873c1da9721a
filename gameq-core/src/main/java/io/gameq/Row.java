package io.gameq;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A full row as MySQL holds it or will hold it; immutable, so it may be shared between threads.
 *
 * <p>Each column type has one Java type; {@code gameq-core/README.md} has the table. A getter of
 * another type throws a {@link GameQueueException}, and so does the name of a column that the table
 * does not have; NULL is null.
 */
public interface Row {
  /** The table's name. */
  String table();

  /** The name of this row in Redis, logs and messages: {@code table:primary key}. */
  String key();

  /**
   * The value of a column, null for NULL.
   *
   * @throws GameQueueException when the table has no such column that gameq writes
   */
  @Nullable Object get(String column);

  /**
   * The value of a column as its Java type, null for NULL.
   *
   * @throws GameQueueException when the column has another type, or the table no such column
   */
  <T> @Nullable T get(String column, Class<T> type);

  /** Whether a column is NULL. */
  boolean isNull(String column);

  /** TINYINT to BIGINT and YEAR; BIGINT UNSIGNED may not fit a long. */
  default @Nullable Long getLong(String column) {
    return get(column, Long.class);
  }

  /** CHAR, VARCHAR, the TEXT family, JSON as MySQL prints it, ENUM; SET with commas. */
  default @Nullable String getString(String column) {
    return get(column, String.class);
  }

  /** BIGINT UNSIGNED and BIT. */
  default @Nullable BigInteger getBigInteger(String column) {
    return get(column, BigInteger.class);
  }

  /** DECIMAL, with the scale of the column. */
  default @Nullable BigDecimal getBigDecimal(String column) {
    return get(column, BigDecimal.class);
  }

  /** FLOAT. */
  default @Nullable Float getFloat(String column) {
    return get(column, Float.class);
  }

  /** DOUBLE. */
  default @Nullable Double getDouble(String column) {
    return get(column, Double.class);
  }

  /** BINARY, VARBINARY and the BLOB family: a copy. */
  default byte @Nullable [] getBytes(String column) {
    return get(column, byte[].class);
  }

  /** DATE. */
  default @Nullable LocalDate getDate(String column) {
    return get(column, LocalDate.class);
  }

  /** DATETIME, which has no zone. */
  default @Nullable LocalDateTime getDateTime(String column) {
    return get(column, LocalDateTime.class);
  }

  /** TIMESTAMP. */
  default @Nullable Instant getInstant(String column) {
    return get(column, Instant.class);
  }

  /** TIME, which may be negative and longer than a day. */
  default @Nullable Duration getDuration(String column) {
    return get(column, Duration.class);
  }

  /** A copy of all values by column name, in the order of the columns; it cannot be changed. */
  Map<String, @Nullable Object> asMap();
}
