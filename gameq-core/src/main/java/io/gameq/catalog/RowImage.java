package io.gameq.catalog;

import org.jspecify.annotations.Nullable;

/**
 * A decoded row; immutable as long as nobody writes to the arrays it hands out.
 *
 * <p>A delete has only its key, the others have all columns.
 */
public final class RowImage {
  private final Table table;
  private final RowOp op;
  private final long version;
  private final @Nullable Object[] values;

  RowImage(Table table, RowOp op, long version, @Nullable Object[] values) {
    this.table = table;
    this.op = op;
    this.version = version;
    this.values = values;
  }

  public Table table() {
    return table;
  }

  public RowOp op() {
    return op;
  }

  /** Unsigned. */
  public long version() {
    return version;
  }

  /** All columns of a put or move in their order, the key parts of a delete. */
  public @Nullable Object[] values() {
    return values;
  }

  /** The canonical primary key. */
  public Object[] key() {
    return op == RowOp.DELETE ? table.canonicalKey(values) : table.keyOf(values);
  }

  public RowKey rowKey() {
    return RowKey.ofKey(table, key());
  }

  @Override
  public String toString() {
    return op + " " + rowKey() + " at version " + Long.toUnsignedString(version);
  }
}
