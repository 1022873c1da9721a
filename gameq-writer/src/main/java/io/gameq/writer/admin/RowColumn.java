package io.gameq.writer.admin;

import io.gameq.rows.RowEdit;
import io.gameq.rows.RowHeader.RowOp;
import io.gameq.rows.RowImage;
import io.gameq.rows.Table.Column;
import io.gameq.rows.types.ValueText;
import io.gameq.terminal.Shown;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * One column of a row that was kept aside, beside what MySQL has; values are null where they are
 * hidden. Immutable.
 *
 * @param named whether the row sets it; else a put keeps what MySQL has
 * @param differs whether the row sets it to something else than MySQL has
 * @param editable whether an edit may change it
 * @param refused the row's value on one line, NULL included; null too when it is not named
 * @param edit the same as an edit takes it; null for NULL, too
 * @param present what MySQL has, on one line; null too when it has no such row
 */
public record RowColumn(
    String name,
    boolean named,
    boolean differs,
    boolean editable,
    @Nullable String refused,
    @Nullable String edit,
    @Nullable String present) {

  /**
   * The columns of a row that was kept aside: all of them, of a delete of an absent row the key's.
   *
   * @param present null when MySQL has no such row
   */
  public static List<RowColumn> of(RowImage image, @Nullable RowImage present, boolean withValues) {
    boolean isDelete = image.op() == RowOp.DELETE;
    List<Column> keys = image.table().keyColumns();
    List<RowColumn> columns = new ArrayList<>();
    for (Column column : isDelete && present == null ? keys : image.table().columns()) {
      int index = image.table().indexOf(column.name());
      boolean named = isDelete ? keys.contains(column) : image.names(index);
      Object refused = named ? image.values()[isDelete ? keys.indexOf(column) : index] : null;
      boolean isThere = present != null && present.table().has(column.name());
      Object there =
          isThere
              ? Objects.requireNonNull(present).values()[present.table().indexOf(column.name())]
              : null;
      boolean values = withValues && named;
      columns.add(
          new RowColumn(
              column.name(),
              named,
              named && isThere && !Objects.deepEquals(refused, there),
              image.op() == RowOp.PUT && RowEdit.isEditable(image.table(), index),
              values ? Shown.value(refused) : null,
              values && refused != null ? ValueText.of(refused) : null,
              withValues && isThere ? Shown.value(there) : null));
    }
    return columns;
  }
}
