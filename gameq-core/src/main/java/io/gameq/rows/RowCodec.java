package io.gameq.rows;

import io.gameq.GameQueueException;
import io.gameq.LayoutException;
import io.gameq.RowRefusedException;
import io.gameq.rows.types.ColumnType;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.time.Clock;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import org.msgpack.core.MessageFormat;
import org.msgpack.core.MessagePack;
import org.msgpack.core.MessagePackException;
import org.msgpack.core.MessagePacker;
import org.msgpack.core.MessageUnpacker;

/**
 * Turns rows into the bytes that wait in Redis and in the WAL, and back; safe for any thread.
 *
 * <p>The format is drawn in the package description. A row names the column list it was written
 * with, so it stays readable after ALTER TABLE as long as that list is kept in gameq_layout.
 */
public final class RowCodec {
  static final int VERSION_DIGITS = 16;
  private static final int HEADER_BYTES = VERSION_DIGITS + 1;
  private static final byte[] HEX = "0123456789abcdef".getBytes(StandardCharsets.US_ASCII);
  private static final Map<RowOp, byte[]> HEADERS = new EnumMap<>(RowOp.class);

  static {
    for (RowOp op : RowOp.values()) {
      byte[] header =
          "0".repeat(HEADER_BYTES).getBytes(StandardCharsets.US_ASCII); // version zero, and the op
      header[VERSION_DIGITS] = op.code(false);
      HEADERS.put(op, header);
    }
  }

  private static final ThreadLocal<RowPacker> PACKER = ThreadLocal.withInitial(RowPacker::new);

  private final LayoutSource layouts;
  private final Clock clock;
  private final ConcurrentHashMap<OldLayout, Layout> parsed = new ConcurrentHashMap<>();

  private record OldLayout(String table, long fingerprint) {}

  /**
   * A codec.
   *
   * @param layouts asked for every column list that is not the table's own, and its answer kept
   * @param clock for columns with DEFAULT CURRENT_TIMESTAMP that an old row does not have
   */
  public RowCodec(LayoutSource layouts, Clock clock) {
    this.layouts = layouts;
    this.clock = clock;
  }

  /**
   * The encoded row, with version zero until {@link #setVersion}.
   *
   * @param values canonical: all columns of a put or move, the key parts of a delete
   */
  public byte[] encode(Table table, RowOp op, @Nullable Object[] values) {
    return encode(table, op, values, null, false);
  }

  /** The encoded image, with version zero until {@link #setVersion}. */
  public byte[] encode(RowImage image) {
    return encode(image.table(), image.op(), image.values(), image.named(), image.isAnew());
  }

  private byte[] encode(
      Table table, RowOp op, @Nullable Object[] values, @Nullable BitSet named, boolean anew) {
    boolean keyOnly = op == RowOp.DELETE;
    int expected = keyOnly ? table.keyLength() : table.columns().size();
    if (values.length != expected) {
      throw new GameQueueException(
          "%s of table %s takes %d values, not %d"
              .formatted(op, table.name(), expected, values.length));
    }
    RowPacker out = PACKER.get();
    try {
      MessagePacker packer = out.begin();
      packer.writePayload(Objects.requireNonNull(HEADERS.get(op)));
      packer.packArrayHeader(values.length + 1);
      packer.packLong(anew ? ~table.fingerprint() : table.fingerprint());
      for (int i = 0; i < values.length; i++) {
        Object value = values[i];
        if (named != null && !named.get(i)) {
          packer.packBoolean(false);
        } else if (value == null) {
          packer.packNil();
        } else {
          table.columns().get(keyOnly ? table.keyIndex(i) : i).type().pack(packer, value);
        }
      }
      return out.end();
    } catch (IOException e) {
      throw new UncheckedIOException("writing to memory", e);
    }
  }

  /** Writes the version into an encoded row, in place. */
  public static void setVersion(byte[] encoded, long version) {
    setVersion(encoded, 0, version);
  }

  static void setVersion(byte[] to, int at, long version) {
    for (int i = 0; i < VERSION_DIGITS; i++) {
      to[at + i] = HEX[(int) (version >>> (4 * (VERSION_DIGITS - 1 - i))) & 15];
    }
  }

  /**
   * The same row, with this op and telling of these handovers instead of its own; see {@link
   * Handover#MOST}. Of a put and a move the columns are the same.
   */
  public static byte[] withHandovers(byte[] encoded, RowOp op, List<Handover> handovers) {
    int from = columnsAt(encoded);
    byte[] notes = handovers.isEmpty() ? new byte[0] : HandoverCodec.encode(handovers);
    byte[] row = new byte[HEADER_BYTES + notes.length + encoded.length - from];
    System.arraycopy(encoded, 0, row, 0, VERSION_DIGITS);
    row[VERSION_DIGITS] = op.code(!handovers.isEmpty());
    System.arraycopy(notes, 0, row, HEADER_BYTES, notes.length);
    System.arraycopy(encoded, from, row, HEADER_BYTES + notes.length, encoded.length - from);
    return row;
  }

  /** Those of an encoded row, oldest first. */
  public static List<Handover> handovers(byte[] encoded) {
    checkHeader(encoded);
    return RowOp.tellsOfHandovers(encoded[VERSION_DIGITS])
        ? HandoverCodec.decode(encoded, HEADER_BYTES)
        : List.of();
  }

  /** Writes the version of a handover, by its index, into an encoded row, in place. */
  public static void setHandoverVersion(byte[] encoded, int index, long version) {
    HandoverCodec.setVersion(encoded, HEADER_BYTES, index, version);
  }

  private static int columnsAt(byte[] encoded) {
    checkHeader(encoded);
    return RowOp.tellsOfHandovers(encoded[VERSION_DIGITS])
        ? Math.min(encoded.length, HandoverCodec.end(encoded, HEADER_BYTES))
        : HEADER_BYTES;
  }

  /** The version of an encoded row, unsigned. */
  public static long version(byte[] encoded) {
    checkHeader(encoded);
    return version(encoded, 0);
  }

  static long version(byte[] encoded, int at) {
    long version = 0;
    for (int i = 0; i < VERSION_DIGITS; i++) {
      int digit = Character.digit(encoded[at + i], 16);
      if (digit < 0) {
        throw new GameQueueException("encoded row without a version");
      }
      version = version << 4 | digit;
    }
    return version;
  }

  public static RowOp op(byte[] encoded) {
    checkHeader(encoded);
    return RowOp.ofCode(encoded[VERSION_DIGITS]);
  }

  private static void checkHeader(byte[] encoded) {
    if (encoded.length < HEADER_BYTES) {
      throw new GameQueueException("encoded row of only " + encoded.length + " bytes");
    }
  }

  /** Whether a put says that it makes a row anew, after a delete; see {@link RowImage#isAnew}. */
  public static boolean isAnew(byte[] encoded) {
    checkHeader(encoded);
    int at = HEADER_BYTES; // a MessagePack array of up to 15, or with a length of 2 or 4 bytes
    if (at < encoded.length) {
      at += encoded[at] == (byte) 0xdc ? 3 : encoded[at] == (byte) 0xdd ? 5 : 1;
    }
    int format = at < encoded.length ? encoded[at] & 0xff : 0;
    return format >= 0xe0 || (format >= 0xd0 && format <= 0xd3); // a negative number
  }

  /**
   * The row in the columns of a table that may have been altered since it was read.
   *
   * @throws LayoutException when it was written with columns that the table lacks or that do not
   *     fit, or with a layout that is not known: see {@link #decodeByFresh}
   * @throws GameQueueException when the bytes are damaged
   */
  public RowImage decode(Table table, byte[] encoded) {
    return decode(table, encoded, false);
  }

  /**
   * The row in the columns of a table that was read after the row: columns that it lacks were
   * dropped, and their values go as they went in MySQL.
   *
   * @throws LayoutException when the row does not fit, or names columns that may have been renamed
   * @throws GameQueueException when the bytes are damaged
   */
  public RowImage decodeByFresh(Table table, byte[] encoded) {
    return decode(table, encoded, true);
  }

  private RowImage decode(Table table, byte[] encoded, boolean isFresh) {
    RowOp op = op(encoded);
    long version = version(encoded);
    List<Handover> handovers = handovers(encoded);
    int from = columnsAt(encoded);
    try (MessageUnpacker in =
        MessagePack.newDefaultUnpacker(encoded, from, encoded.length - from)) {
      int count = in.unpackArrayHeader() - 1;
      long number = in.unpackLong();
      boolean anew = number < 0;
      long fingerprint = anew ? ~number : number;
      Layout layout = fingerprint == table.fingerprint() ? null : layout(table, fingerprint);
      RowImage image;
      if (op == RowOp.DELETE) {
        @Nullable Object[] key =
            layout == null
                ? unpack(in, table.keyTypes(), count, null)
                : oldKey(table, layout, in, count);
        image = new RowImage(table, op, version, key);
      } else {
        BitSet named = new BitSet();
        @Nullable Object[] values =
            unpack(in, layout == null ? table.types() : layout.types(), count, named);
        if (layout != null) {
          values = oldRow(table, layout, values, named, isFresh);
        } else if (named.cardinality() < count) {
          fill(table, values, named);
        }
        image = new RowImage(table, op, version, values, anew ? null : named, anew);
      }
      if (in.hasNext()) {
        throw new GameQueueException("encoded row of table " + table + " with bytes to spare");
      }
      return handovers.isEmpty() ? image : image.telling(handovers);
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
          "encoded row with %d values for %d columns".formatted(count, types.size()));
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

  private Layout layout(Table table, long fingerprint) {
    return parsed.computeIfAbsent(
        new OldLayout(table.name(), fingerprint),
        old -> {
          String text = layouts.layout(old.table(), old.fingerprint());
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
  private void fill(Table table, @Nullable Object[] values, BitSet named) {
    for (int i = named.nextClearBit(0); i < values.length; i = named.nextClearBit(i + 1)) {
      try {
        values[i] = table.unnamed(i, clock);
      } catch (RowRefusedException e) {
        throw doesNotFit(table, e);
      }
    }
  }

  /** Leaves in {@code named} what the row names of the columns that the table has. */
  private @Nullable Object[] oldRow(
      Table table, Layout layout, @Nullable Object[] old, BitSet named, boolean isFresh) {
    BitSet oldNamed = (BitSet) named.clone();
    named.clear();
    @Nullable Object[] row = new @Nullable Object[table.columns().size()];
    for (int i = 0; i < row.length; i++) {
      Column column = table.columns().get(i);
      int index = layout.names().indexOf(column.name());
      if (index >= 0 && oldNamed.get(index)) {
        try {
          row[i] = column.canonical(old[index]);
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
      if (!isFresh) {
        throw new LayoutException(
            "row of table %s written with columns that are gone, or were not there yet: %s"
                .formatted(table.name(), String.join(", ", gone)));
      }
      Renamed.requireNone(table, layout.names(), gone);
    }
    return row;
  }

  private static LayoutException doesNotFit(Table table, RowRefusedException e) {
    return new LayoutException(
        ("row of table %s written before it was altered does not fit: %s; undo that"
                + " change until such rows are in MySQL")
            .formatted(table.name(), e.getMessage()),
        e);
  }

  /** The parts of a deleted row's key: the same columns, perhaps of another type by now. */
  private static @Nullable Object[] oldKey(
      Table table, Layout layout, MessageUnpacker in, int count) throws IOException {
    List<ColumnType> types = new ArrayList<>();
    for (Column column : table.keyColumns()) {
      int index = layout.names().indexOf(column.name());
      if (index < 0) {
        throw new LayoutException(
            "deleted row of table %s written without the key column %s"
                .formatted(table.name(), column.name()));
      }
      types.add(layout.types().get(index));
    }
    try {
      return table.canonicalKey(unpack(in, types, count, null));
    } catch (RowRefusedException e) {
      throw new LayoutException("deleted row of table %s: %s".formatted(table, e.getMessage()), e);
    }
  }
}
