package io.gameq.rows;

import io.gameq.rows.EncodedRow.RowKey;
import io.gameq.rows.RowHeader.Handover;
import io.gameq.rows.RowHeader.RowOp;
import java.util.BitSet;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A decoded row; immutable as long as nobody writes to what it hands out.
 *
 * <p>A delete has only its key, the others have all columns. Those that a row does not name, since
 * its node did not know them, have their defaults here, and keep their values in MySQL.
 *
 * @param version unsigned
 * @param values canonical: all columns of a put or move in their order, the key parts of a delete
 * @param named the indexes of the columns that it names; null for all. The others keep what they
 *     have in MySQL
 * @param isAnew whether the row was made anew after a delete: then nothing of the row before it
 *     stays
 * @param handovers moves of the row that MySQL may not know of yet, oldest first
 */
@SuppressWarnings("ArrayRecordComponent") // nobody compares them
public record RowImage(
    Table table,
    RowOp op,
    long version,
    @Nullable Object[] values,
    @Nullable BitSet named,
    boolean isAnew,
    List<Handover> handovers) {
  public RowImage {
    named = named != null && named.cardinality() == values.length ? null : named;
  }

  /** An image of canonical values that names all columns. */
  public RowImage(Table table, RowOp op, long version, @Nullable Object[] values) {
    this(table, op, version, values, null, false, List.of());
  }

  /** A copy. */
  @Override
  public @Nullable BitSet named() {
    return named == null ? null : (BitSet) named.clone();
  }

  /** Whether it names the column at this index. */
  public boolean names(int column) {
    return named == null || named.get(column);
  }

  /**
   * This image, with what it does not name as the next older image of the row has it.
   *
   * @param older by the same catalogue
   */
  public RowImage over(RowImage older) {
    BitSet names = named();
    if (names == null || older.table != table) {
      return this;
    }
    boolean afterDelete = older.op == RowOp.DELETE;
    @Nullable Object[] both = values.clone();
    for (int i = names.nextClearBit(0); i < both.length; i = names.nextClearBit(i + 1)) {
      if (afterDelete || older.names(i)) {
        both[i] = afterDelete ? both[i] : older.values[i];
        names.set(i);
      }
    }
    return new RowImage(table, op, version, both, names, afterDelete, handovers);
  }

  /**
   * This image as if it were a little older and had NULL in some columns: for a moment within the
   * transaction that writes this one after it.
   */
  public RowImage withNull(BitSet columns) {
    @Nullable Object[] before = values.clone();
    columns.stream().forEach(column -> before[column] = null);
    return new RowImage(table, op, version - 1, before, named, isAnew, List.of());
  }

  /**
   * This image with other values in some columns, which it names then.
   *
   * @param columns canonical values by the columns' indexes
   */
  RowImage with(Map<Integer, @Nullable Object> columns) {
    @Nullable Object[] edited = values.clone();
    BitSet names = named();
    columns.forEach(
        (index, value) -> {
          edited[index] = value;
          if (names != null) {
            names.set(index);
          }
        });
    return new RowImage(table, op, version, edited, names, isAnew, handovers);
  }

  /** The canonical primary key. */
  public Object[] key() {
    return op == RowOp.DELETE ? CanonicalRow.key(table, values) : table.keyOf(values);
  }

  public RowKey rowKey() {
    return RowKey.ofKey(table, key());
  }

  @Override
  public String toString() {
    String text = op + " " + rowKey() + " at version " + Long.toUnsignedString(version);
    return handovers.isEmpty() ? text : text + " " + handovers;
  }
}
