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

  /** Whether a column is NULL. */
  boolean isNull(String column);

  /** TINYINT to BIGINT and YEAR; BIGINT UNSIGNED may not fit a long. */
  @Nullable Long getLong(String column);

  /** CHAR, VARCHAR, the TEXT family, JSON as MySQL prints it, ENUM; SET with commas. */
  @Nullable String getString(String column);

  /** BIGINT UNSIGNED and BIT. */
  @Nullable BigInteger getBigInteger(String column);

  /** DECIMAL, with the scale of the column. */
  @Nullable BigDecimal getBigDecimal(String column);

  /** FLOAT. */
  @Nullable Float getFloat(String column);

  /** DOUBLE. */
  @Nullable Double getDouble(String column);

  /** BINARY, VARBINARY and the BLOB family: a copy. */
  byte @Nullable [] getBytes(String column);

  /** DATE. */
  @Nullable LocalDate getDate(String column);

  /** DATETIME, which has no zone. */
  @Nullable LocalDateTime getDateTime(String column);

  /** TIMESTAMP. */
  @Nullable Instant getInstant(String column);

  /** TIME, which may be negative and longer than a day. */
  @Nullable Duration getDuration(String column);

  /** A copy of all values by column name, in the order of the columns; it cannot be changed. */
  Map<String, @Nullable Object> asMap();
}
