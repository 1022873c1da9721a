package io.gameq;

import io.gameq.catalog.Column;
import io.gameq.catalog.RowKey;
import io.gameq.catalog.Table;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.util.Arrays;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A full row as MySQL holds it or will hold it; immutable, so it may be shared between threads.
 *
 * <p>A getter whose type is not the column's throws; NULL is null. Integers are Long, BIGINT
 * UNSIGNED and BIT BigInteger, DATETIME is LocalDateTime, TIMESTAMP Instant, TIME Duration; see
 * {@link io.gameq.catalog.ColumnType.Kind} for all.
 */
public final class Row {
  private final Table table;
  private final @Nullable Object[] values;

  /** A row of canonical values in the order of the table's columns; takes over the array. */
  public Row(Table table, @Nullable Object[] values) {
    if (values.length != table.columns().size()) {
      throw new GameQueueException(
          "%d values for the %d columns of table %s"
              .formatted(values.length, table.columns().size(), table));
    }
    this.table = table;
    this.values = values;
  }

  /** The table's name. */
  public String table() {
    return table.name();
  }

  /** The name of this row in Redis, logs and messages. */
  public RowKey key() {
    return RowKey.of(table, values);
  }

  /**
   * The value of a column, null for NULL.
   *
   * @throws GameQueueException when the table has no such column that gameq writes
   */
  public @Nullable Object get(String column) {
    Object value = values[table.indexOf(column)];
    return value instanceof byte[] bytes ? bytes.clone() : value;
  }

  public boolean isNull(String column) {
    return values[table.indexOf(column)] == null;
  }

  /** An integer column but BIGINT UNSIGNED, which may not fit a long. */
  public @Nullable Long getLong(String column) {
    return get(column, Long.class);
  }

  /** A text, JSON, ENUM or SET column. */
  public @Nullable String getString(String column) {
    return get(column, String.class);
  }

  public @Nullable BigInteger getBigInteger(String column) {
    return get(column, BigInteger.class);
  }

  public @Nullable BigDecimal getBigDecimal(String column) {
    return get(column, BigDecimal.class);
  }

  public @Nullable Float getFloat(String column) {
    return get(column, Float.class);
  }

  public @Nullable Double getDouble(String column) {
    return get(column, Double.class);
  }

  public byte @Nullable [] getBytes(String column) {
    return get(column, byte[].class);
  }

  public @Nullable LocalDate getDate(String column) {
    return get(column, LocalDate.class);
  }

  public @Nullable LocalDateTime getDateTime(String column) {
    return get(column, LocalDateTime.class);
  }

  public @Nullable Instant getInstant(String column) {
    return get(column, Instant.class);
  }

  public @Nullable Duration getDuration(String column) {
    return get(column, Duration.class);
  }

  private <T> @Nullable T get(String column, Class<T> type) {
    Object value = get(column);
    if (value != null && !type.isInstance(value)) {
      throw new GameQueueException(
          "%s.%s is a %s, not a %s"
              .formatted(table, column, value.getClass().getSimpleName(), type.getSimpleName()));
    }
    return type.cast(value);
  }

  /** A copy of all values by column name, in the order of the columns; it cannot be changed. */
  public Map<String, @Nullable Object> asMap() {
    Map<String, @Nullable Object> map = new LinkedHashMap<>();
    for (Column column : table.columns()) {
      map.put(column.name(), get(column.name()));
    }
    return Collections.unmodifiableMap(map);
  }

  /** Same table, same columns, same values; arrays by content. */
  @Override
  public boolean equals(@Nullable Object other) {
    return other instanceof Row row
        && (table == row.table
            || (table().equals(row.table()) && columnNames().equals(row.columnNames())))
        && Arrays.deepEquals(values, row.values);
  }

  @Override
  public int hashCode() {
    return Objects.hash(table(), Arrays.deepHashCode(values));
  }

  private List<String> columnNames() {
    return table.columns().stream().map(Column::name).toList();
  }

  /** The key alone: the other values may be private. */
  @Override
  public String toString() {
    return key().toString();
  }
}
