package io.gameq.rows;

import io.gameq.Row;
import io.gameq.RowRefusedException;
import io.gameq.owner.OwnerId;
import io.gameq.rows.EncodedRow.RowKey;
import io.gameq.rows.Table.Column;
import io.gameq.rows.types.ColumnType.Refusal;
import java.time.Clock;
import java.util.BitSet;
import java.util.Map;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Turns the values that a game gives for a row or a key into canonical ones, and refuses what the
 * table does not hold. Stateless.
 */
public final class CanonicalRow {
  private CanonicalRow() {}

  /**
   * The full row of a put that names its columns; one that is absent takes its default.
   *
   * @throws RowRefusedException when a column is unknown, generated, missing without a default, or
   *     does not hold its value
   */
  public static @Nullable Object[] of(Table table, Map<String, ?> values, Clock clock) {
    return partOf(table, values).over(null, clock);
  }

  /**
   * The columns that an update names; its row says which.
   *
   * @throws RowRefusedException when a column is unknown or generated, does not hold its value, or
   *     the key is not whole
   */
  public static PartialRow partOf(Table table, Map<String, ?> values) {
    BitSet named = new BitSet();
    @Nullable Object[] row = new @Nullable Object[table.columns().size()];
    values.forEach(
        (name, value) -> {
          if (!table.has(name)) {
            throw new RowRefusedException(table.unknown(name));
          }
          int index = table.indexOf(name);
          if (named.get(index)) {
            throw Refusal.of(
                table.columns().get(index).label(),
                "given twice, in capitals and in small letters");
          }
          named.set(index);
          row[index] = table.canonical(index, value);
        });
    return new PartialRow(table, row, named);
  }

  /**
   * What the column at this index has in a row that does not name it.
   *
   * @throws RowRefusedException when it must be named
   */
  static @Nullable Object unnamed(Table table, int index, Clock clock) {
    if (table.namesRowOrOwner(index)) {
      throw Refusal.of(
          table.columns().get(index).label(),
          "missing, and part of the primary key or the owner column");
    }
    return table.columns().get(index).unnamed(clock);
  }

  /**
   * The canonical primary key.
   *
   * @param parts in the order of the key
   * @throws RowRefusedException when the number of parts is wrong or one does not fit its column
   */
  public static Object[] key(Table table, @Nullable Object... parts) {
    if (parts.length != table.keyTypes.size()) {
      throw new RowRefusedException(
          "%s: %s key parts given, the primary key is (%s)"
              .formatted(
                  table.name(),
                  parts.length,
                  table.keyColumns().stream().map(Column::name).collect(Collectors.joining(", "))));
    }
    Object[] key = new Object[parts.length];
    for (int i = 0; i < key.length; i++) {
      Column column = table.keyColumns().get(i);
      Object part = column.canonicalExactly(parts[i]);
      if (part == null) {
        throw Refusal.of(column.label(), "NULL in a primary key");
      }
      key[i] = part;
    }
    return key;
  }

  /**
   * Some columns of a row, its key among them: what an update gives. Immutable as long as nobody
   * writes to what it hands out.
   *
   * @param values canonical, in the order of the table's columns
   * @param named the indexes of the columns that it names
   */
  @SuppressWarnings("ArrayRecordComponent") // nobody compares them
  public record PartialRow(Table table, @Nullable Object[] values, BitSet named) {
    /** Throws RowRefusedException when the key is not whole. */
    public PartialRow {
      for (int i = named.nextClearBit(0); i < values.length; i = named.nextClearBit(i + 1)) {
        if (table.isInKey(i)) {
          throw Refusal.of(table.columns().get(i).label(), "missing, and part of the primary key");
        }
      }
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
     * @throws RowRefusedException when there is none, and a column has no default
     */
    public @Nullable Object[] over(@Nullable Row before, Clock clock) {
      if (named.cardinality() == values.length) { // nearly every put
        return values;
      }
      @Nullable Object[] full = values.clone();
      for (int i = named.nextClearBit(0); i < full.length; i = named.nextClearBit(i + 1)) {
        Column column = table.columns().get(i);
        full[i] = before == null ? column.absent(clock) : kept(column, before);
      }
      return full;
    }

    /**
     * Without strict mode MySQL stored an ENUM's wrong values as '', and does not take that back.
     */
    private static @Nullable Object kept(Column column, Row before) {
      Object value = before.get(column.name());
      if ("".equals(value)) {
        try {
          Object unused = column.canonical("");
        } catch (RowRefusedException e) {
          throw new RowRefusedException(
              column.label()
                  + " holds a value in MySQL that is none of its members: give it one in the"
                  + " update");
        }
      }
      return value;
    }
  }
}
