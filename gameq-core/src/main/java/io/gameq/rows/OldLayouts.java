package io.gameq.rows;

import io.gameq.LayoutException;
import io.gameq.RowRefusedException;
import io.gameq.rows.types.ColumnType;
import java.time.Clock;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * Brings rows that were encoded with another column list than the table's own into the table's
 * columns; safe for any thread.
 */
final class OldLayouts {
  private final LayoutSource source;
  private final Clock clock;
  private final ConcurrentHashMap<Key, Layout> parsed = new ConcurrentHashMap<>();

  private record Key(String table, long fingerprint) {}

  /** See {@link RowCodec#RowCodec}. */
  OldLayouts(LayoutSource source, Clock clock) {
    this.source = source;
    this.clock = clock;
  }

  /**
   * The column list of this fingerprint.
   *
   * @throws LayoutException when it is not known
   */
  Layout find(Table table, long fingerprint) {
    return parsed.computeIfAbsent(
        new Key(table.name(), fingerprint),
        old -> {
          String text = source.layout(old.table(), old.fingerprint());
          if (text == null) {
            throw new LayoutException(
                ("row of table %s written with the column list %08x, which gameq_layout"
                        + " does not know: restore that table, or replay the WAL of the node that"
                        + " wrote the row")
                    .formatted(old.table(), old.fingerprint()));
          }
          return Layout.parse(text);
        });
  }

  /** Gives columns that a row does not name what they have in such rows. */
  void fill(Table table, @Nullable Object[] values, BitSet named) {
    for (int i = named.nextClearBit(0); i < values.length; i = named.nextClearBit(i + 1)) {
      try {
        values[i] = CanonicalRow.unnamed(table, i, clock);
      } catch (RowRefusedException e) {
        throw doesNotFit(table, e);
      }
    }
  }

  /**
   * The row in the columns that the table has now. Leaves in {@code named} those that it names.
   *
   * @param old its values as they were encoded
   * @param allowed columns that it may name and the table lack
   */
  @Nullable Object[] row(
      Table table, Layout layout, @Nullable Object[] old, BitSet named, RowCodec.Gone allowed) {
    BitSet oldNamed = (BitSet) named.clone();
    named.clear();
    @Nullable Object[] row = new @Nullable Object[table.columns().size()];
    for (int i = 0; i < row.length; i++) {
      Column column = table.columns().get(i);
      int index = layout.indexOf(column.name());
      if (index >= 0 && oldNamed.get(index)) {
        try {
          row[i] = column.canonicalExactly(old[index]);
        } catch (RowRefusedException e) {
          throw doesNotFit(table, e);
        }
        named.set(i);
        oldNamed.clear(index);
      }
    }
    fill(table, row, named);
    if (!oldNamed.isEmpty()) {
      List<String> gone = oldNamed.stream().mapToObj(layout.names()::get).toList();
      if (allowed == RowCodec.Gone.NONE) {
        throw new LayoutException(
            "row of table %s written with columns that are gone, or were not there yet: %s"
                .formatted(table.name(), String.join(", ", gone)));
      }
      requireDropped(table, layout, gone, allowed);
    }
    return row;
  }

  private static void requireDropped(
      Table table, Layout layout, List<String> gone, RowCodec.Gone allowed) {
    List<String> unannounced = gone.stream().filter(name -> !table.isDropped(name)).toList();
    Renamed.requireNone(table, layout.names(), unannounced);
    if (allowed == RowCodec.Gone.ANNOUNCED && !unannounced.isEmpty()) {
      throw new LayoutException(
          ("row of table %1$s written with values for %2$s, which the table lacks: add the column"
                  + " again, or, if it was dropped on purpose, run 'gameq-writer schema"
                  + " drop-column %1$s %3$s'")
              .formatted(
                  table.name(), String.join(" and ", unannounced), String.join(" ", unannounced)));
    }
  }

  private static LayoutException doesNotFit(Table table, RowRefusedException e) {
    return new LayoutException(
        ("row of table %s written before it was altered does not fit: %s; undo that"
                + " change until such rows are in MySQL")
            .formatted(table.name(), e.getMessage()),
        e);
  }

  /** The types that the parts of a deleted row's key had. */
  static List<ColumnType> keyTypes(Table table, Layout layout) {
    List<ColumnType> types = new ArrayList<>();
    for (Column column : table.keyColumns()) {
      int index = layout.indexOf(column.name());
      if (index < 0) {
        throw new LayoutException(
            "deleted row of table %s written without the key column %s"
                .formatted(table.name(), column.name()));
      }
      types.add(layout.types().get(index));
    }
    return types;
  }

  /** A deleted row's key: the same columns, perhaps of another type by now. */
  static @Nullable Object[] key(Table table, @Nullable Object[] old) {
    try {
      return CanonicalRow.key(table, old);
    } catch (RowRefusedException e) {
      throw new LayoutException("deleted row of table %s: %s".formatted(table, e.getMessage()), e);
    }
  }
}
