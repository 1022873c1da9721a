package io.gameq.rows;

import io.gameq.GameQueueException;
import java.nio.charset.StandardCharsets;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/**
 * What stands before the values of an encoded row, read and written without decoding them: its
 * version, its op, its handovers, and whether it is made anew. Stateless.
 *
 * <p>The format is drawn in the package description.
 */
public final class RowHeader {
  static final int VERSION_DIGITS = 16;
  private static final int BYTES = VERSION_DIGITS + 1;
  private static final byte[] HEX = "0123456789abcdef".getBytes(StandardCharsets.US_ASCII);
  private static final Map<RowOp, byte[]> HEADERS = new EnumMap<>(RowOp.class);

  static {
    for (RowOp op : RowOp.values()) {
      byte[] header =
          "0".repeat(BYTES).getBytes(StandardCharsets.US_ASCII); // version zero, and the op
      header[VERSION_DIGITS] = op.code(false);
      HEADERS.put(op, header);
    }
  }

  private RowHeader() {}

  /** The header of a row without handovers, of version zero; not to be changed. */
  static byte[] of(RowOp op) {
    return Objects.requireNonNull(HEADERS.get(op));
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
    byte[] row = new byte[BYTES + notes.length + encoded.length - from];
    System.arraycopy(encoded, 0, row, 0, VERSION_DIGITS);
    row[VERSION_DIGITS] = op.code(!handovers.isEmpty());
    System.arraycopy(notes, 0, row, BYTES, notes.length);
    System.arraycopy(encoded, from, row, BYTES + notes.length, encoded.length - from);
    return row;
  }

  /** Those of an encoded row, oldest first. */
  public static List<Handover> handovers(byte[] encoded) {
    check(encoded);
    return RowOp.tellsOfHandovers(encoded[VERSION_DIGITS])
        ? HandoverCodec.decode(encoded, BYTES)
        : List.of();
  }

  /** Writes the version of a handover, by its index, into an encoded row, in place. */
  public static void setHandoverVersion(byte[] encoded, int index, long version) {
    HandoverCodec.setVersion(encoded, BYTES, index, version);
  }

  /** The index of the MessagePack array, behind handovers. */
  static int columnsAt(byte[] encoded) {
    check(encoded);
    return RowOp.tellsOfHandovers(encoded[VERSION_DIGITS])
        ? Math.min(encoded.length, HandoverCodec.end(encoded, BYTES))
        : BYTES;
  }

  /** The version of an encoded row, unsigned. */
  public static long version(byte[] encoded) {
    check(encoded);
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

  /** What is done to the row. */
  public static RowOp op(byte[] encoded) {
    check(encoded);
    return RowOp.ofCode(encoded[VERSION_DIGITS]);
  }

  /** Whether a put says that it makes a row anew, after a delete; see {@link RowImage#isAnew}. */
  public static boolean isAnew(byte[] encoded) {
    check(encoded);
    int at = BYTES; // a MessagePack array of up to 15, or with a length of 2 or 4 bytes
    if (at < encoded.length) {
      at += encoded[at] == (byte) 0xdc ? 3 : encoded[at] == (byte) 0xdd ? 5 : 1;
    }
    int format = at < encoded.length ? encoded[at] & 0xff : 0;
    return format >= 0xe0 || (format >= 0xd0 && format <= 0xd3); // a negative number
  }

  private static void check(byte[] encoded) {
    if (encoded.length < BYTES) {
      throw new GameQueueException("encoded row of only " + encoded.length + " bytes");
    }
  }
}
