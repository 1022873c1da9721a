package io.gameq.rows;

import io.gameq.RowRefusedException;
import io.gameq.rows.RowHeader.RowOp;
import io.gameq.rows.Table.Column;
import io.gameq.rows.types.ColumnType;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Changes columns of a row that was kept aside; its key, owner and version stay. Stateless. */
public final class RowEdit {
  private RowEdit() {}

  /**
   * The row with other values in some columns, checked as those of a put.
   *
   * @param columns by name, as {@link ColumnType#ofText} reads them; null for NULL
   * @throws RowRefusedException when the row is no put, when a column is unknown, part of the key
   *     or the owner column, or does not hold its value
   */
  public static RowImage of(RowImage row, Map<String, @Nullable String> columns) {
    Table table = row.table();
    if (row.op() != RowOp.PUT) {
      throw new RowRefusedException(
          row.op() == RowOp.DELETE
              ? "it deletes the row: there are no columns to edit"
              : "the row was moved to another owner: edit the new owner's dead letter of it");
    }
    Map<Integer, @Nullable Object> values = new HashMap<>();
    columns.forEach(
        (name, text) -> {
          int index = editable(table, name);
          Column column = table.columns().get(index);
          values.put(
              index,
              column.canonical(text == null ? null : column.type().ofText(text, column.label())));
        });
    return row.with(values);
  }

  private static int editable(Table table, String name) {
    if (!table.has(name)) {
      throw new RowRefusedException(table.unknown(name));
    }
    int index = table.indexOf(name);
    if (table.namesRowOrOwner(index)) {
      throw new RowRefusedException(
          "%s names the row or its owner and cannot be edited"
              .formatted(table.columns().get(index).label()));
    }
    return index;
  }
}
