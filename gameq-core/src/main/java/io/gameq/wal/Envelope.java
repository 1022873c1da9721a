package io.gameq.wal;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.zip.CRC32C;

/**
 * What stands before each record so that it can be found and believed wherever it lies. Stateless.
 *
 * <pre>
 * magic "GQW1" (4) | CRC-32C of all that follows (4) | bytes of the body (4) | tag (4) | sequence
 *   (8) | body
 * </pre>
 *
 * <p>The tag is this WAL's own: a blob in a row that looks like a record is not taken for one, even
 * when the record around it is damaged.
 */
final class Envelope {
  static final int BYTES = 24;
  static final int MAGIC = 0x47515731; // "GQW1"
  static final byte FIRST = 'G';

  private static final int CRC = 4;
  private static final int LENGTH = 8;
  private static final int TAG = 12;
  private static final int SEQUENCE = 16;

  private static final VarHandle INT =
      MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.BIG_ENDIAN);
  private static final VarHandle LONG =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.BIG_ENDIAN);

  private Envelope() {}

  /** The tag of a WAL: the process at the end of its id, where it ends with 8 hex digits. */
  static int tag(String walId) {
    String process = walId.substring(walId.lastIndexOf('-') + 1);
    try {
      if (process.length() == 8) {
        return Integer.parseUnsignedInt(process, 16);
      }
    } catch (NumberFormatException e) {
      // of no process: any number that is the same for the same id
    }
    CRC32C crc = new CRC32C();
    crc.update(walId.getBytes(StandardCharsets.UTF_8));
    return (int) crc.getValue();
  }

  /** Fills in the envelope of a record of {@code length} bytes at the start of {@code record}. */
  static void seal(byte[] record, int length, int tag, long sequence) {
    INT.set(record, 0, MAGIC);
    INT.set(record, LENGTH, length - BYTES);
    INT.set(record, TAG, tag);
    LONG.set(record, SEQUENCE, sequence);
    INT.set(record, CRC, checksum(record, 0, length));
  }

  static boolean beginsAt(byte[] bytes, int at) {
    return magic(bytes, at) == MAGIC;
  }

  static int magic(byte[] bytes, int at) {
    return (int) INT.get(bytes, at);
  }

  /** Bytes of the whole record, by its envelope; may be anything when that is damaged. */
  static long length(byte[] bytes, int at) {
    return BYTES + ((int) INT.get(bytes, at + LENGTH) & 0xFFFFFFFFL);
  }

  static int tag(byte[] bytes, int at) {
    return (int) INT.get(bytes, at + TAG);
  }

  static long sequence(byte[] bytes, int at) {
    return (long) LONG.get(bytes, at + SEQUENCE);
  }

  /** Whether the {@code length} bytes of a record are those that were written. */
  static boolean isIntact(byte[] bytes, int at, int length) {
    return (int) INT.get(bytes, at + CRC) == checksum(bytes, at, length);
  }

  private static int checksum(byte[] bytes, int at, int length) {
    CRC32C crc = new CRC32C();
    crc.update(bytes, at + LENGTH, length - LENGTH);
    return (int) crc.getValue();
  }
}
