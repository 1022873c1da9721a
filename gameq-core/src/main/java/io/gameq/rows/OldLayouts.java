package io.gameq.rows;

import io.gameq.GameQueueException;
import io.gameq.LayoutException;
import io.gameq.RowRefusedException;
import io.gameq.owner.OwnerId.PercentEncoding;
import io.gameq.rows.RowCodec.LayoutSource;
import io.gameq.rows.Table.Column;
import io.gameq.rows.types.ColumnType;
import io.gameq.rows.types.ColumnTypes;
import io.gameq.rows.types.ColumnTypes.SqlText;
import io.gameq.rows.types.ColumnTypes.TextCharset;
import java.nio.charset.StandardCharsets;
import java.time.Clock;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Collections;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Collectors;
import java.util.zip.CRC32;
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

  /**
   * Tells a column that was dropped from one that may have been renamed: where a new column stands
   * in the place of the one that is gone, its values may belong there. Stateless.
   */
  static final class Renamed {
    private Renamed() {}

    /**
     * Passes when all of these columns were dropped.
     *
     * @param before names of all columns that the row was written with
     * @param gone those of them that the table lacks
     * @throws LayoutException naming the columns that one of them may be now, and the remedy
     */
    static void requireNone(Table table, List<String> before, List<String> gone) {
      List<String> now = table.columns().stream().map(Column::name).toList();
      for (String name : gone) {
        Set<String> inItsPlace = inPlaceOf(name, before, now);
        if (!inItsPlace.isEmpty()) {
          throw new LayoutException(
              ("row of table %s written with column %s, which is gone or has become %s:"
                      + " rename it back until such rows are in MySQL, or, if it was dropped, run"
                      + " 'gameq-writer schema drop-column %s %s'")
                  .formatted(
                      table.name(), name, String.join(" or ", inItsPlace), table.name(), name));
        }
      }
    }

    /** New columns right behind its neighbour before it, or right before the one behind it. */
    private static Set<String> inPlaceOf(String name, List<String> before, List<String> now) {
      Set<String> found = behindNeighbour(name, before, now);
      found.addAll(behindNeighbour(name, reversed(before), reversed(now)));
      return found;
    }

    /** New columns right behind the nearest one before {@code name} that is still there. */
    private static Set<String> behindNeighbour(String name, List<String> before, List<String> now) {
      int neighbour = before.indexOf(name) - 1;
      while (neighbour >= 0 && !now.contains(before.get(neighbour))) {
        neighbour--;
      }
      return now.stream()
          .skip(neighbour < 0 ? 0 : now.indexOf(before.get(neighbour)) + 1)
          .takeWhile(column -> !before.contains(column))
          .collect(Collectors.toCollection(LinkedHashSet::new));
    }

    private static List<String> reversed(List<String> names) {
      List<String> reversed = new ArrayList<>(names);
      Collections.reverse(reversed);
      return reversed;
    }
  }

  /**
   * The column list that a row was encoded with, as text {@code name type,name type charset,...},
   * and the CRC-32 that names it; immutable.
   *
   * <p>Names are percent-encoded, so the first space ends them; a comma inside of quotes or
   * brackets belongs to a type.
   */
  record Layout(List<String> names, List<ColumnType> types) {

    static String text(List<Column> columns) {
      StringBuilder out = new StringBuilder();
      for (Column column : columns) {
        out.append(out.isEmpty() ? "" : ",");
        out.append(PercentEncoding.percent(column.name())).append(' ').append(column.declaration());
      }
      return out.toString();
    }

    /** An unsigned 32-bit number. */
    static long fingerprint(String text) {
      CRC32 crc = new CRC32();
      crc.update(text.getBytes(StandardCharsets.UTF_8));
      return crc.getValue();
    }

    static Layout parse(String text) {
      List<String> names = new ArrayList<>();
      List<ColumnType> types = new ArrayList<>();
      for (String column : split(text)) {
        int space = column.indexOf(' ');
        if (space < 0) {
          throw new GameQueueException("layout with a column without a type");
        }
        names.add(PercentEncoding.unpercent(column.substring(0, space)));
        String declaration = column.substring(space + 1);
        int charset = declaration.lastIndexOf(' ');
        String last = charset < 0 ? "" : declaration.substring(charset + 1);
        types.add(
            TextCharset.ofName(last) == null
                ? ColumnTypes.parse(declaration, null, null)
                : ColumnTypes.parse(declaration.substring(0, charset), last, null));
      }
      return new Layout(names, types);
    }

    /** The place of a column, in capitals or small letters as MySQL compares them; -1 for none. */
    int indexOf(String column) {
      for (int i = 0; i < names.size(); i++) {
        if (names.get(i).equalsIgnoreCase(column)) {
          return i;
        }
      }
      return -1;
    }

    private static List<String> split(String text) {
      List<String> parts = new ArrayList<>();
      StringBuilder quoted = new StringBuilder();
      int from = 0;
      int depth = 0;
      for (int i = 0; i < text.length(); i++) {
        char c = text.charAt(i);
        if (c == '\'') {
          i = SqlText.unquote(text, i + 1, quoted) - 1;
        } else if (c == '(') {
          depth++;
        } else if (c == ')') {
          depth--;
        } else if (c == ',' && depth == 0) {
          parts.add(text.substring(from, i));
          from = i + 1;
        }
      }
      parts.add(text.substring(from));
      return parts;
    }
  }
}
