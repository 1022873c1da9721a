package io.gameq.rows;

import io.gameq.GameQueueException;
import io.gameq.rows.OldLayouts.Layout;
import io.gameq.rows.RowHeader.Handover;
import io.gameq.rows.RowHeader.RowOp;
import io.gameq.rows.types.ColumnType;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Clock;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.msgpack.core.MessageFormat;
import org.msgpack.core.MessagePack;
import org.msgpack.core.MessagePackException;
import org.msgpack.core.MessagePacker;
import org.msgpack.core.MessageUnpacker;
import org.msgpack.core.buffer.ArrayBufferInput;
import org.msgpack.core.buffer.MessageBuffer;
import org.msgpack.core.buffer.MessageBufferOutput;

/**
 * Turns rows into the bytes that wait in Redis and in the WAL, and back; safe for any thread.
 *
 * <p>The format is drawn in the package description. A row names the column list it was written
 * with, so it stays readable after ALTER TABLE as long as that list is kept in gameq_layout.
 */
public final class RowCodec {
  private static final ThreadLocal<RowPacker> PACKER = ThreadLocal.withInitial(RowPacker::new);

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
    int expected = image.op() == RowOp.DELETE ? table.keyTypes.size() : table.columns().size();
    if (values.length != expected) {
      throw new GameQueueException(
          "%s of table %s takes %s values, not %s"
              .formatted(image.op(), table.name(), expected, values.length));
    }
    RowPacker out = PACKER.get();
    try {
      MessagePacker packer = out.begin();
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
          ColumnType.pack(packer, value);
        }
      }
      return out.end();
    } catch (IOException e) {
      throw new UncheckedIOException("writing to memory", e);
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
    return decode(table, encoded, Gone.NONE);
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
    return decode(table, encoded, Gone.ANNOUNCED);
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
    return decode(table, encoded, Gone.DROPPED);
  }

  /** What is taken of columns that a row names and its table lacks. */
  enum Gone {
    /** None: the table may be older than the row. */
    NONE,
    /** Those of which it was announced. */
    ANNOUNCED,
    /** All that were not renamed. */
    DROPPED
  }

  private RowImage decode(Table table, byte[] encoded, Gone allowed) {
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
        image = new RowImage(table, op, version, key);
      } else {
        BitSet named = new BitSet();
        @Nullable Object[] values =
            unpack(in, layout == null ? table.types : layout.types(), count, named);
        if (layout != null) {
          values = oldLayouts.row(table, layout, values, named, allowed);
        } else if (named.cardinality() < count) {
          oldLayouts.fill(table, values, named);
        }
        image = new RowImage(table, op, version, values, anew ? null : named, anew);
      }
      if (in.hasNext() && table != HandledRow.TABLE) { // which carries a message
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

  /** Packs one row after the other into an array that it keeps. Not thread-safe. */
  static final class RowPacker implements MessageBufferOutput {
    private static final int FIRST_BYTES = 1 << 10;

    /** What a rare large row grew is not kept. */
    private static final int KEPT_BYTES = 1 << 16;

    private byte[] bytes = new byte[FIRST_BYTES];
    private int length;
    private MessagePacker packer = MessagePack.newDefaultPacker(this);
    private boolean packing;

    /** A packer for the next row, up to {@link #end}. */
    MessagePacker begin() {
      if (packing) { // the last row was refused half-way: its rest is in the packer
        packer = MessagePack.newDefaultPacker(this);
      }
      packing = true;
      length = 0;
      return packer;
    }

    /** The bytes of the row. */
    byte[] end() throws IOException {
      packer.flush();
      packing = false;
      byte[] row = Arrays.copyOf(bytes, length);
      if (bytes.length > KEPT_BYTES) {
        bytes = new byte[FIRST_BYTES];
      }
      return row;
    }

    private void room(int more) {
      if (bytes.length - length < more) {
        bytes = Arrays.copyOf(bytes, Math.max(2 * bytes.length, length + more));
      }
    }

    @Override
    public MessageBuffer next(int minimumSize) {
      room(minimumSize);
      return MessageBuffer.wrap(bytes, length, bytes.length - length);
    }

    @Override
    public void writeBuffer(int written) {
      length += written;
    }

    @Override
    public void write(byte[] buffer, int offset, int size) {
      room(size);
      System.arraycopy(buffer, offset, bytes, length, size);
      length += size;
    }

    @Override
    public void add(byte[] buffer, int offset, int size) {
      write(buffer, offset, size);
    }

    @Override
    public void flush() {}

    @Override
    public void close() {}
  }

  /**
   * Where the column lists of rows encoded before an ALTER TABLE are found; called by any thread.
   */
  @FunctionalInterface
  public interface LayoutSource {
    /** The layout text with this fingerprint, or null when none is known. */
    @Nullable String layout(String table, long fingerprint);
  }
}
