package io.gameq.rows;

import io.gameq.GameQueueException;
import io.gameq.Row;
import io.gameq.owner.OwnerId;
import io.gameq.rows.EncodedRow.RowKey;
import io.gameq.rows.Table.Column;
import java.util.Arrays;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** A row of a known table; immutable. */
public final class TableRow implements Row {
  private final Table table;
  private final @Nullable Object[] values;

  /** A row of canonical values in the order of the table's columns; takes over the array. */
  public TableRow(Table table, @Nullable Object[] values) {
    if (values.length != table.columns().size()) {
      throw new GameQueueException(
          "%s values for the %s columns of table %s"
              .formatted(values.length, table.columns().size(), table));
    }
    this.table = table;
    this.values = values;
  }

  /** Its table. */
  public Table managed() {
    return table;
  }

  /** Its values, in the order of the table's columns; not to be changed. */
  public @Nullable Object[] values() {
    return values;
  }

  public OwnerId owner() {
    return table.ownerOf(values);
  }

  @Override
  public String table() {
    return table.name();
  }

  @Override
  public String key() {
    return RowKey.of(table, values).text();
  }

  @Override
  public @Nullable Object get(String column) {
    Object value = values[table.indexOf(column)];
    return value instanceof byte[] bytes ? bytes.clone() : value;
  }

  @Override
  public boolean isNull(String column) {
    return values[table.indexOf(column)] == null;
  }

  @Override
  public <T> @Nullable T get(String column, Class<T> type) {
    Object value = get(column);
    if (value != null && !type.isInstance(value)) {
      throw new GameQueueException(
          "%s.%s is a %s, not a %s"
              .formatted(table, column, value.getClass().getSimpleName(), type.getSimpleName()));
    }
    return type.cast(value);
  }

  @Override
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
    return other instanceof TableRow row
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
    return key();
  }
}
