package io.gameq.rows;

import io.gameq.Row;
import io.gameq.RowRefusedException;
import io.gameq.owner.OwnerId;
import io.gameq.rows.types.ColumnType;
import java.time.Clock;
import java.util.BitSet;
import org.jspecify.annotations.Nullable;

/**
 * Some columns of a row, its key among them: what an update gives. Immutable as long as nobody
 * writes to what it hands out.
 */
public final class PartialRow {
  private final Table table;
  private final @Nullable Object[] values;
  private final BitSet named;

  /**
   * Takes over the array and the set.
   *
   * @param values canonical, in the order of the table's columns
   * @throws io.gameq.RowRefusedException when the key is not whole
   */
  PartialRow(Table table, @Nullable Object[] values, BitSet named) {
    this.table = table;
    this.values = values;
    this.named = named;
    for (int i = 0; i < values.length; i++) {
      if (table.isInKey(i) && !named.get(i)) {
        throw CanonicalRow.missingInKey(table, i);
      }
    }
  }

  public Table table() {
    return table;
  }

  public RowKey key() {
    return RowKey.of(table, values);
  }

  /** Whether it says whose row it is. */
  public boolean namesOwner() {
    return named.get(table.ownerIndex());
  }

  /** The owner that it names. */
  public OwnerId owner() {
    return table.ownerOf(values);
  }

  /**
   * The full row: what it does not name as the row has it, or by default where there is none.
   *
   * @throws io.gameq.RowRefusedException when there is none, and a column has no default
   */
  public @Nullable Object[] over(@Nullable Row before, Clock clock) {
    @Nullable Object[] full = values.clone();
    for (int i = named.nextClearBit(0); i < full.length; i = named.nextClearBit(i + 1)) {
      full[i] =
          before == null
              ? CanonicalRow.absent(table, i, clock)
              : kept(table.columns().get(i), before);
    }
    return full;
  }

  /** Without strict mode MySQL stored an ENUM's wrong values as '', and does not take that back. */
  private static @Nullable Object kept(Column column, Row before) {
    Object value = before.get(column.name());
    if ("".equals(value) && column.type().kind() == ColumnType.Kind.ENUM) {
      requireMember(column);
    }
    return value;
  }

  private static void requireMember(Column column) {
    try {
      Object unused = column.canonical("");
    } catch (RowRefusedException e) {
      throw new RowRefusedException(
          column.label()
              + " holds a value in MySQL that is none of its members: give it one in the update");
    }
  }
}
