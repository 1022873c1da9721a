package io.gameq.wal;

import java.io.Closeable;
import java.io.IOException;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;

/**
 * The bytes of a file around the place that is read. It copies them: memory that is mapped would
 * kill the process with SIGBUS when the file is cut meanwhile. Not thread-safe.
 */
final class FileWindow implements Closeable {
  private static final VarHandle LONG =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.nativeOrder());
  private static final VarHandle CHRONICLE_INT =
      MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.LITTLE_ENDIAN);

  /** The header before a record is looked at after the record. */
  private static final int LOOK_BACK_BYTES = 16;

  private final FileChannel channel;
  private byte[] buffer;
  private long start;
  private int filled;

  FileWindow(Path file, int bytes) throws IOException {
    channel = FileChannel.open(file, StandardOpenOption.READ);
    buffer = new byte[bytes];
  }

  long size() throws IOException {
    return channel.size();
  }

  /** Has what is read next come from the file, which may have changed. */
  void forget() {
    filled = 0;
  }

  /** Makes {@code bytes} bytes at {@code position} readable; false when the file ends before. */
  boolean has(long position, int bytes) throws IOException {
    if (position >= start && position + bytes <= start + filled) {
      return true;
    }
    if (buffer.length < bytes + LOOK_BACK_BYTES) {
      buffer = new byte[Math.max(bytes + LOOK_BACK_BYTES, 2 * buffer.length)];
    }
    start = Math.max(0, position - LOOK_BACK_BYTES);
    filled = 0;
    ByteBuffer into = ByteBuffer.wrap(buffer);
    while (into.hasRemaining()) {
      int read = channel.read(into, start + into.position());
      if (read < 0) {
        break;
      }
    }
    filled = into.position();
    return position + bytes <= start + filled;
  }

  /** Where in {@link #buffer} the byte at {@code position} is, after {@link #has}. */
  int index(long position) {
    return (int) (position - start);
  }

  byte[] buffer() {
    return buffer;
  }

  /** An int as Chronicle Queue writes it, after {@link #has}. */
  int chronicleInt(long position) {
    return (int) CHRONICLE_INT.get(buffer, index(position));
  }

  /**
   * The first place from {@code from} on that holds {@code value}, or -1; zeros are skipped fast.
   */
  long find(byte value, long from) throws IOException {
    for (long position = from; has(position, 1); position = start + filled) {
      for (int i = index(position); i < filled; i++) {
        if (i + 8 <= filled && (long) LONG.get(buffer, i) == 0) {
          i += 7;
        } else if (buffer[i] == value) {
          return start + i;
        }
      }
    }
    return -1;
  }

  /**
   * The place behind the last byte that is not zero, from {@code from} on; {@code from} if none.
   */
  long endOfNonZero(long from) throws IOException {
    long end = from;
    for (long position = from; has(position, 1); position = start + filled) {
      int i = filled;
      while (i > index(position) && buffer[i - 1] == 0) {
        i -= i - 8 >= index(position) && (long) LONG.get(buffer, i - 8) == 0 ? 8 : 1;
      }
      if (i > index(position)) {
        end = start + i;
      }
    }
    return end;
  }

  boolean isZero(long from, int bytes) throws IOException {
    if (!has(from, bytes)) {
      return false;
    }
    int at = index(from);
    return Arrays.equals(buffer, at, at + bytes, new byte[bytes], 0, bytes);
  }

  @Override
  public void close() throws IOException {
    channel.close();
  }
}
