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
 * The bytes of a file around the place that is read, and what Chronicle Queue wrote around the
 * records. That tells damage from health; it never serves to find records. Not thread-safe.
 *
 * <p>The window copies bytes: mapped memory would kill the process with SIGBUS when the file is cut
 * meanwhile.
 *
 * <pre>
 * file     = document, document, ... end mark, zeros
 * document = int32, little-endian: length in the lowest 30 bits, 0x40000000 Chronicle Queue's own,
 *            0x80000000 being written; 0: nothing was written here yet
 *            then as many bytes, a multiple of 4: for us one record with its envelope
 * end mark = 0xC0000000, then 0xC3 "EOF"
 * </pre>
 */
final class FileWindow implements Closeable {
  static final int HEADER_BYTES = 4;

  /** The longest document that a header can tell of. */
  static final int MOST_DOCUMENT_BYTES = 0x3FFFFFFF;

  private static final int META = 0x40000000;
  private static final int NOT_COMPLETE = 0x80000000;
  private static final int END_MARK = NOT_COMPLETE | META;
  private static final int END_MARK_TEXT = 0x464F45C3;
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

  // --- documents

  static long aligned(long position) {
    return (position + 3) & ~3L;
  }

  /** The document header at {@code at}; 0 beyond the end of the file. */
  private int header(long at) throws IOException {
    return has(at, HEADER_BYTES) ? (int) CHRONICLE_INT.get(buffer, index(at)) : 0;
  }

  private static boolean isMeta(int header) {
    return (header & END_MARK) == META;
  }

  private static boolean isData(int header) {
    return header > 0 && (header & END_MARK) == 0;
  }

  /** Whether a header at {@code at} is that of a finished document of ours. */
  boolean isData(long at) throws IOException {
    return isData(header(at));
  }

  /** Whether it is that of a finished document of ours with a record of {@code length} bytes. */
  boolean isHeaderOf(long at, int length) throws IOException {
    int header = header(at);
    // Zeros that align the next document count in some versions.
    boolean is = header >= length && header <= aligned(length);
    return is && has(at + HEADER_BYTES, length);
  }

  /** Whether it is that of a document which is being written or was never finished. */
  boolean isUnfinished(long at) throws IOException {
    int header = header(at);
    return (header & NOT_COMPLETE) != 0 && header != END_MARK;
  }

  /** Whether the record at {@code record} belongs to a document that is not finished yet. */
  boolean isBeingWritten(long record) throws IOException {
    int header = header(record - HEADER_BYTES);
    return header == 0 || (header & NOT_COMPLETE) != 0;
  }

  /** Where the document that begins at {@code at} ends, by its header. */
  long documentEnd(long at) throws IOException {
    return at + HEADER_BYTES + (header(at) & MOST_DOCUMENT_BYTES);
  }

  /** Skips documents of Chronicle Queue itself: its file header and index. */
  long behindMeta(long from, long limit) throws IOException {
    long at = from;
    while (isMeta(header(at)) && at < limit) {
      at = aligned(documentEnd(at));
    }
    return at;
  }

  /** Whether the file was finished where documents end: then nothing follows but zeros. */
  boolean isEnded(long documentsEnd) throws IOException {
    long at = behindMeta(documentsEnd, size());
    return header(at) == END_MARK && isEndMarkText(at);
  }

  private boolean isEndMarkText(long endMark) throws IOException {
    return header(endMark + HEADER_BYTES) == END_MARK_TEXT;
  }

  /** Whether the file was begun and nothing was written into it yet. */
  boolean hasNoDocument() throws IOException {
    long at = behindMeta(0, size());
    return endOfNonZero(at) == at;
  }

  /** Whether its first record is being written. */
  boolean isAtFirstDocument() throws IOException {
    long at = behindMeta(0, size());
    return (header(at) & NOT_COMPLETE) != 0 && !isEndMarkText(at);
  }

  /** How many finished documents of ours begin in a stretch, as far as their headers tell. */
  long countDocuments(long from, long to) throws IOException {
    long count = 0;
    long at = behindMeta(from, to);
    while (at < to && isData(at)) {
      count++;
      at = behindMeta(aligned(documentEnd(at)), to);
    }
    return count;
  }

  @Override
  public void close() throws IOException {
    channel.close();
  }
}
