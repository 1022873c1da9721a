package io.gameq.rows;

import io.gameq.GameQueueException;
import io.gameq.LayoutException;
import io.gameq.RowRefusedException;
import io.gameq.rows.RowHeader.Handover;
import io.gameq.rows.RowHeader.RowOp;
import io.gameq.rows.Table.Column;
import io.gameq.rows.Table.Layout;
import io.gameq.rows.types.ColumnType;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Clock;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Collections;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.msgpack.core.MessageBufferPacker;
import org.msgpack.core.MessageFormat;
import org.msgpack.core.MessagePack;
import org.msgpack.core.MessagePackException;
import org.msgpack.core.MessageUnpacker;
import org.msgpack.core.buffer.ArrayBufferInput;

/**
 * Turns rows into the bytes that wait in Redis and in the WAL, and back; safe for any thread.
 *
 * <p>The format is drawn in the package description. A row names the column list it was written
 * with, so it stays readable after ALTER TABLE as long as that list is kept in gameq_layout.
 */
public final class RowCodec {
  private static final ThreadLocal<MessageBufferPacker> PACKER =
      ThreadLocal.withInitial(MessagePack::newDefaultBufferPacker);

  /** Kept, as a new one takes 16 KiB for its first text. */
  private static final ThreadLocal<MessageUnpacker> UNPACKER =
      ThreadLocal.withInitial(() -> MessagePack.newDefaultUnpacker(new byte[0]));

  private final OldLayouts oldLayouts;

  /**
   * A codec.
   *
   * @param layouts asked for every column list that is not the table's own, and its answer kept
   * @param clock for columns with DEFAULT CURRENT_TIMESTAMP that an old row does not have
   */
  public RowCodec(LayoutSource layouts, Clock clock) {
    this.oldLayouts = new OldLayouts(layouts, clock);
  }

  /**
   * The encoded row, with version zero until {@link RowHeader#setVersion}.
   *
   * @param values canonical: all columns of a put or move, the key parts of a delete
   */
  public byte[] encode(Table table, RowOp op, @Nullable Object[] values) {
    return encode(new RowImage(table, op, 0, values));
  }

  /** The encoded image, with version zero until {@link RowHeader#setVersion}. */
  public byte[] encode(RowImage image) {
    Table table = image.table();
    @Nullable Object[] values = image.values();
    List<ColumnType> types = image.op() == RowOp.DELETE ? table.keyTypes : table.types;
    if (values.length != types.size()) {
      throw new GameQueueException(
          "%s of table %s takes %s values, not %s"
              .formatted(image.op(), table.name(), types.size(), values.length));
    }
    MessageBufferPacker packer = PACKER.get();
    try {
      packer.writePayload(image.op().header);
      packer.packArrayHeader(values.length + 1);
      packer.packLong(image.isAnew() ? ~table.fingerprint() : table.fingerprint());
      for (int i = 0; i < values.length; i++) {
        Object value = values[i];
        if (!image.names(i)) {
          packer.packBoolean(false);
        } else if (value == null) {
          packer.packNil();
        } else {
          types.get(i).pack(packer, value);
        }
      }
      return packer.toByteArray();
    } catch (IOException e) {
      throw new UncheckedIOException("writing to memory", e);
    } finally {
      packer.clear(); // also of a row that was refused half-way
    }
  }

  /** The encoded image with its version and its handovers: {@link #decode} gives it back. */
  public byte[] encodeWhole(RowImage image) {
    byte[] encoded = encode(image);
    byte[] whole =
        image.handovers().isEmpty()
            ? encoded
            : RowHeader.withHandovers(encoded, image.op(), image.handovers());
    RowHeader.setVersion(whole, image.version());
    return whole;
  }

  /**
   * The row in the columns of a table that may have been altered since it was read.
   *
   * @throws io.gameq.LayoutException when it was written with columns that the table lacks or that
   *     do not fit, or with a layout that is not known: see {@link #decodeByFresh}
   * @throws GameQueueException when the bytes are damaged
   */
  public RowImage decode(Table table, byte[] encoded) {
    return decode(table, encoded, UnknownColumns.NONE);
  }

  /**
   * The row as it is to be written, in the columns of a table that was read after the row. Values
   * of columns that it lacks go, where it was announced that these are dropped.
   *
   * @throws io.gameq.LayoutException when the row does not fit, or names other columns that are
   *     gone
   * @throws GameQueueException when the bytes are damaged
   */
  public RowImage decodeByFresh(Table table, byte[] encoded) {
    return decode(table, encoded, UnknownColumns.ANNOUNCED);
  }

  /**
   * The row as it is to be read by a game, in the columns of a table that was read after the row:
   * without columns that it lacks, announced or not. The row stays as it is.
   *
   * @throws io.gameq.LayoutException when the row does not fit, or names columns that may have been
   *     renamed
   * @throws GameQueueException when the bytes are damaged
   */
  public RowImage decodeForGame(Table table, byte[] encoded) {
    return decode(table, encoded, UnknownColumns.DROPPED);
  }

  /** What is taken of columns that a row names and its table lacks. */
  enum UnknownColumns {
    /** None: the table may be older than the row. */
    NONE,
    /** Those of which it was announced. */
    ANNOUNCED,
    /** All that were not renamed. */
    DROPPED
  }

  private RowImage decode(Table table, byte[] encoded, UnknownColumns allowed) {
    RowOp op = RowHeader.op(encoded);
    long version = RowHeader.version(encoded);
    List<Handover> handovers = RowHeader.handovers(encoded);
    int from = RowHeader.columnsAt(encoded);
    MessageUnpacker in = UNPACKER.get();
    try {
      in.reset(new ArrayBufferInput(encoded, from, encoded.length - from));
      int count = in.unpackArrayHeader() - 1;
      long number = in.unpackLong();
      boolean anew = number < 0;
      long fingerprint = anew ? ~number : number;
      Layout layout =
          fingerprint == table.fingerprint() ? null : oldLayouts.find(table, fingerprint);
      RowImage image;
      if (op == RowOp.DELETE) {
        @Nullable Object[] key =
            layout == null
                ? unpack(in, table.keyTypes, count, null)
                : OldLayouts.key(
                    table, unpack(in, OldLayouts.keyTypes(table, layout), count, null));
        image = new RowImage(table, op, version, key, null, false, handovers);
      } else {
        BitSet named = new BitSet();
        @Nullable Object[] values =
            unpack(in, layout == null ? table.types : layout.types(), count, named);
        if (layout != null) {
          values = oldLayouts.row(table, layout, values, named, allowed);
        } else if (named.cardinality() < count) {
          oldLayouts.fill(table, values, named);
        }
        image = new RowImage(table, op, version, values, anew ? null : named, anew, handovers);
      }
      if (in.hasNext() && !table.name().equals(Table.HANDLED)) { // which carries a message
        throw new GameQueueException("encoded row of table " + table + " with bytes to spare");
      }
      return image;
    } catch (IOException | MessagePackException | ArithmeticException e) {
      throw new GameQueueException("encoded row of table " + table + " is damaged", e);
    }
  }

  /**
   * Unpacks values.
   *
   * @param named takes the indexes of those that are there; null when all must be
   */
  private static @Nullable Object[] unpack(
      MessageUnpacker in, List<ColumnType> types, int count, @Nullable BitSet named)
      throws IOException {
    if (count != types.size()) {
      throw new GameQueueException(
          "encoded row with %s values for %s columns".formatted(count, types.size()));
    }
    @Nullable Object[] values = new @Nullable Object[count];
    for (int i = 0; i < count; i++) {
      if (named != null && in.getNextFormat() == MessageFormat.BOOLEAN) {
        in.unpackBoolean();
        continue;
      }
      values[i] = in.tryUnpackNil() ? null : types.get(i).unpack(in);
      if (named != null) {
        named.set(i);
      }
    }
    return values;
  }

  /**
   * Where the column lists of rows encoded before an ALTER TABLE are found; called by any thread.
   */
  @FunctionalInterface
  public interface LayoutSource {
    /** The layout text with this fingerprint, or null when none is known. */
    @Nullable String layout(String table, long fingerprint);
  }

  /**
   * Brings rows that were encoded with another column list than the table's own into the table's
   * columns; safe for any thread.
   */
  private static final class OldLayouts {
    private final LayoutSource source;
    private final Clock clock;
    private final ConcurrentHashMap<Key, Layout> parsed = new ConcurrentHashMap<>();

    private record Key(String table, long fingerprint) {}

    /** See {@link RowCodec}. */
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
        Table table, Layout layout, @Nullable Object[] old, BitSet named, UnknownColumns allowed) {
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
        if (allowed == UnknownColumns.NONE) {
          throw new LayoutException(
              "row of table %s written with columns that are gone, or were not there yet: %s"
                  .formatted(table.name(), String.join(", ", gone)));
        }
        requireDropped(table, layout, gone, allowed);
      }
      return row;
    }

    private static void requireDropped(
        Table table, Layout layout, List<String> gone, UnknownColumns allowed) {
      List<String> unannounced = gone.stream().filter(name -> !table.isDropped(name)).toList();
      Renamed.requireNone(table, layout.names(), unannounced);
      if (allowed == UnknownColumns.ANNOUNCED && !unannounced.isEmpty()) {
        throw new LayoutException(
            ("row of table %1$s written with values for %2$s, which the table lacks: add the column"
                    + " again, or, if it was dropped on purpose, run 'gameq-writer schema"
                    + " drop-column %1$s %3$s'")
                .formatted(
                    table.name(),
                    String.join(" and ", unannounced),
                    String.join(" ", unannounced)));
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
        throw new LayoutException(
            "deleted row of table %s: %s".formatted(table, e.getMessage()), e);
      }
    }

    /**
     * Tells a column that was dropped from one that may have been renamed: where a new column
     * stands in the place of the one that is gone, its values may belong there. Stateless.
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
      private static Set<String> behindNeighbour(
          String name, List<String> before, List<String> now) {
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
  }
}
