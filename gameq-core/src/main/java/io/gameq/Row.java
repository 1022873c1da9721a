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
 * <p>A getter whose type is not the column's throws; NULL is null. Integers are Long, BIGINT
 * UNSIGNED and BIT BigInteger, DATETIME is LocalDateTime, TIMESTAMP Instant, TIME Duration; see
 * {@code gameq-core/README.md} for all.
 */
public interface Row {
  /** The table's name. */
  String table();

  /** The name of this row in Redis, logs and messages. */
  String key();

  /**
   * The value of a column, null for NULL.
   *
   * @throws GameQueueException when the table has no such column that gameq writes
   */
  @Nullable Object get(String column);

  boolean isNull(String column);

  /** An integer column but BIGINT UNSIGNED, which may not fit a long. */
  @Nullable Long getLong(String column);

  /** A text, JSON, ENUM or SET column. */
  @Nullable String getString(String column);

  @Nullable BigInteger getBigInteger(String column);

  @Nullable BigDecimal getBigDecimal(String column);

  @Nullable Float getFloat(String column);

  @Nullable Double getDouble(String column);

  byte @Nullable [] getBytes(String column);

  @Nullable LocalDate getDate(String column);

  @Nullable LocalDateTime getDateTime(String column);

  @Nullable Instant getInstant(String column);

  @Nullable Duration getDuration(String column);

  /** A copy of all values by column name, in the order of the columns; it cannot be changed. */
  Map<String, @Nullable Object> asMap();
}
