package io.gameq.catalog;

import io.gameq.GameQueueException;
import io.gameq.RowRefusedException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.time.Clock;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
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
  private static final int VERSION_DIGITS = 16;
  private static final int HEADER_BYTES = VERSION_DIGITS + 1;
  private static final byte[] HEX = "0123456789abcdef".getBytes(StandardCharsets.US_ASCII);
  private static final Map<RowOp, byte[]> HEADERS = new EnumMap<>(RowOp.class);

  static {
    for (RowOp op : RowOp.values()) {
      byte[] header =
          "0".repeat(HEADER_BYTES).getBytes(StandardCharsets.US_ASCII); // version zero, and the op
      header[VERSION_DIGITS] = op.code();
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
      packer.packLong(table.fingerprint());
      for (int i = 0; i < values.length; i++) {
        Object value = values[i];
        if (value == null) {
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
    for (int i = 0; i < VERSION_DIGITS; i++) {
      encoded[i] = HEX[(int) (version >>> (4 * (VERSION_DIGITS - 1 - i))) & 15];
    }
  }

  /** The version of an encoded row, unsigned. */
  public static long version(byte[] encoded) {
    checkHeader(encoded);
    long version = 0;
    for (int i = 0; i < VERSION_DIGITS; i++) {
      int digit = Character.digit(encoded[i], 16);
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

  /**
   * The row in the columns that the table has now.
   *
   * @throws LayoutException when it was written with columns that are gone or do not fit, or with a
   *     layout that is not known
   * @throws GameQueueException when the bytes are damaged
   */
  public RowImage decode(Table table, byte[] encoded) {
    RowOp op = op(encoded);
    long version = version(encoded);
    try (MessageUnpacker in =
        MessagePack.newDefaultUnpacker(encoded, HEADER_BYTES, encoded.length - HEADER_BYTES)) {
      int count = in.unpackArrayHeader() - 1;
      long fingerprint = in.unpackLong();
      @Nullable Object[] values;
      if (fingerprint == table.fingerprint()) {
        values = unpack(in, op == RowOp.DELETE ? table.keyTypes() : table.types(), count);
      } else {
        Layout layout = layout(table, fingerprint);
        values =
            op == RowOp.DELETE
                ? oldKey(table, layout, in, count)
                : oldRow(table, layout, unpack(in, layout.types(), count));
      }
      if (in.hasNext()) {
        throw new GameQueueException("encoded row of table " + table + " with bytes to spare");
      }
      return new RowImage(table, op, version, values);
    } catch (IOException | MessagePackException | ArithmeticException e) {
      throw new GameQueueException("encoded row of table " + table + " is damaged", e);
    }
  }

  private static @Nullable Object[] unpack(MessageUnpacker in, List<ColumnType> types, int count)
      throws IOException {
    if (count != types.size()) {
      throw new GameQueueException(
          "encoded row with %d values for %d columns".formatted(count, types.size()));
    }
    @Nullable Object[] values = new @Nullable Object[count];
    for (int i = 0; i < count; i++) {
      values[i] = in.tryUnpackNil() ? null : types.get(i).unpack(in);
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
                "row of table %s written with the column list %08x, which gameq_layout does not know"
                    .formatted(old.table(), old.fingerprint()));
          }
          return Layout.parse(text);
        });
  }

  private @Nullable Object[] oldRow(Table table, Layout layout, @Nullable Object[] old) {
    List<String> gone = new ArrayList<>(layout.names());
    @Nullable Object[] row = new @Nullable Object[table.columns().size()];
    for (int i = 0; i < row.length; i++) {
      Column column = table.columns().get(i);
      int index = layout.names().indexOf(column.name());
      gone.remove(column.name());
      try {
        row[i] = index < 0 ? table.absent(i, clock) : column.canonical(old[index]);
      } catch (RowRefusedException e) {
        throw new LayoutException(
            "row of table %s written before it was altered does not fit: %s"
                .formatted(table.name(), e.getMessage()),
            e);
      }
    }
    if (!gone.isEmpty()) {
      throw new LayoutException(
          "row of table %s written with columns that are gone: %s"
              .formatted(table.name(), String.join(", ", gone)));
    }
    return row;
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
      return table.canonicalKey(unpack(in, types, count));
    } catch (RowRefusedException e) {
      throw new LayoutException("deleted row of table %s: %s".formatted(table, e.getMessage()), e);
    }
  }
}
