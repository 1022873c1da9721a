package io.gameq.wal;

import io.gameq.wal.FileScan.WalDamage.Kind;
import io.gameq.wal.WalCodec.Envelope;
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
import org.jspecify.annotations.Nullable;

/**
 * Finds every intact record of one file, and reports the bytes between them that are not as they
 * should be. What Chronicle Queue wrote around the records tells damage from health; it never
 * serves to find records. Not thread-safe.
 *
 * <p>Copies bytes into a window: mapped memory would kill the process with SIGBUS when the file is
 * cut meanwhile.
 *
 * <pre>
 * file     = document, document, ... end mark, zeros
 * document = int32, little-endian: length in the lowest 30 bits, 0x40000000 Chronicle Queue's own,
 *            0x80000000 being written; 0: nothing was written here yet
 *            then as many bytes, a multiple of 4: for us one record with its envelope
 * end mark = 0xC0000000, then 0xC3 "EOF"
 * </pre>
 */
public final class FileScan implements Closeable {
  /** Fits twice into a processor's cache: most bytes of a file that is not full are zeros. */
  static final int WINDOW_BYTES = 256 << 10;

  private static final String NO_END_MARK = "zeros where the file's end mark should be";
  private static final int PAGE_BYTES = 4096;
  private static final byte[] ZEROS = new byte[PAGE_BYTES];
  private static final int SECTOR_BYTES = 512;

  /** Zeros are looked for so often; other bytes must not pay for it. */
  private static final int LOOK_BYTES = 64;

  private static final int HEADER_BYTES = 4;

  /** The longest document that a header can tell of. */
  private static final int MOST_DOCUMENT_BYTES = 0x3FFFFFFF;

  private static final int META = 0x40000000;
  private static final int NOT_COMPLETE = 0x80000000;
  private static final int END_MARK = NOT_COMPLETE | META;
  private static final int END_MARK_TEXT = 0x464F45C3;
  private static final VarHandle CHRONICLE_INT =
      MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.LITTLE_ENDIAN);

  /** The header before a record is looked at after the record. */
  private static final int LOOK_BACK_BYTES = 16;

  /** Takes what is found, in the order of the file. */
  interface Found {
    /** An intact record: {@code length} bytes of {@code buffer}, which are valid for this call. */
    void record(byte[] buffer, int at, int length, long offset);

    /**
     * Bytes that are not as they should be.
     *
     * @param records how many are known to be lost, where no later record tells
     */
    default void damage(Kind kind, long offset, long bytes, long records, String detail) {}
  }

  private final Path path;
  private final FileChannel channel;
  private byte[] buffer;
  private long start; // of the window, in the file
  private int filled;
  private long end; // of what was handed over: where the next document begins
  private long lastSequence;
  private long nonZeroEnd; // behind the last byte that find() saw and that is not zero
  private boolean healthy = true; // nothing damaged or missing in this file up to there

  FileScan(Path path, int windowBytes) throws IOException {
    this.path = path;
    channel = FileChannel.open(path, StandardOpenOption.READ);
    buffer = new byte[windowBytes];
  }

  @Override
  public void close() throws IOException {
    channel.close();
  }

  // --- records

  /** What the first intact record of any WAL says of the file; null when there is none. */
  @Nullable WalFile first() throws IOException {
    long at = find(0, null);
    return at < 0
        ? null
        : new WalFile(path, Envelope.tag(buffer, index(at)), Envelope.sequence(buffer, index(at)));
  }

  /**
   * Whether the file holds bytes of which no WAL tells: not one that was only prepared, nor, while
   * its writer is alive, one that is at its first record, or past it by now.
   */
  boolean isStrange(boolean live) throws IOException {
    long at = behindMeta(0, size());
    if (endOfNonZero(at) == at) {
      return false;
    }
    if (!live) {
      return true;
    }
    filled = 0;
    at = behindMeta(0, size());
    boolean isBeingBegun = (header(at) & NOT_COMPLETE) != 0 && !isEndMarkText(at);
    filled = 0;
    return !isBeingBegun && first() == null;
  }

  /**
   * Hands over everything up to the end of the file; called again, what came since.
   *
   * @param tag of the WAL whose records are wanted
   * @param newest whether no file with records follows
   * @param growing whether its writer is alive and may be writing: then what is unfinished is no
   *     damage
   */
  void run(int tag, Found found, boolean newest, boolean growing) throws IOException {
    filled = 0;
    while (true) {
      if (handOverNext(tag, found)) {
        continue;
      }
      if (healthy && isEnded(end)) {
        return; // a piece of the file's end may have been written over its middle: else look on
      }
      long next = find(end, tag);
      if (growing) {
        if (next < 0 || (isBeingWritten(next) && find(next + 1, tag) < 0)) {
          return;
        }
        filled = 0; // a record that is whole has only whole ones before it, by now
        if (handOverNext(tag, found)) {
          continue;
        }
      }
      if (next < 0) {
        reportEnd(found, newest);
        return;
      }
      reportBefore(next, intact(next, tag), found);
      handOver(next, intact(next, tag), found);
    }
  }

  private boolean handOverNext(int tag, Found found) throws IOException {
    int length = intact(end + HEADER_BYTES, tag);
    boolean isNext = length > 0 && isHeaderOf(end, length);
    if (isNext) {
      handOver(end + HEADER_BYTES, length, found);
    }
    return isNext;
  }

  private void handOver(long at, int length, Found found) {
    long sequence = Envelope.sequence(buffer, index(at));
    healthy &= end == 0 || sequence == lastSequence + 1;
    lastSequence = sequence;
    found.record(buffer, index(at), length, at);
    end = aligned(at + length);
  }

  /**
   * Bytes of the intact record at {@code at}, which are then in the window; 0 when there is none.
   *
   * @param tag of its WAL; null for any
   */
  private int intact(long at, @Nullable Integer tag) throws IOException {
    if (!has(at, Envelope.BYTES) || !Envelope.beginsAt(buffer, index(at))) {
      return 0;
    }
    long length = Envelope.length(buffer, index(at));
    return length <= WalCodec.MOST_RECORD_BYTES
            && has(at, (int) length)
            && Envelope.isIntact(buffer, index(at), (int) length)
            && (tag == null || Envelope.tag(buffer, index(at)) == tag)
        ? (int) length
        : 0;
  }

  /** The next intact record, at any byte: files that were cut and joined need not be aligned. */
  private long find(long from, @Nullable Integer tag) throws IOException {
    long at = from;
    nonZeroEnd = from;
    while ((at = find(Envelope.FIRST, at)) >= 0 && intact(at, tag) == 0) {
      at++;
    }
    return at;
  }

  // --- what is no record

  /** Reports what lies before the intact record {@code next}, unless it is as it should be. */
  private void reportBefore(long next, int length, Found found) throws IOException {
    long header = next - HEADER_BYTES;
    boolean known = header >= end && isHeaderOf(header, length);
    if (known && behindMeta(end, header) == header) {
      return;
    }
    healthy = false;
    long to = known ? header : next;
    found.damage(kind(end, to), end, to - end, 0, holdNoRecord(to - end));
  }

  private static String holdNoRecord(long bytes) {
    return "%s bytes hold no record".formatted(bytes);
  }

  private Kind kind(long from, long to) throws IOException {
    if (isZeroed(from, to)) {
      return Kind.ZEROED_PAGE;
    }
    return isRecordOfWrongBytes(from) ? Kind.BAD_CHECKSUM : Kind.DAMAGED_HEADER;
  }

  private boolean isZeroed(long from, long to) throws IOException {
    if (to - from >= SECTOR_BYTES && isZero(from, (int) Math.min(to - from, PAGE_BYTES))) {
      return true;
    }
    boolean withIndex = from == 0; // of Chronicle Queue, which is mostly zeros
    for (long page = (from + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES;
        page + PAGE_BYTES <= to && !withIndex;
        page += PAGE_BYTES) {
      if (isZero(page, PAGE_BYTES)) {
        return true;
      }
    }
    return false;
  }

  /** Whether all that tells a record's length is as it should be. */
  private boolean isRecordOfWrongBytes(long from) throws IOException {
    long at = from + HEADER_BYTES;
    if (!has(from, HEADER_BYTES + Envelope.BYTES)
        || !isData(header(from))
        || !Envelope.beginsAt(buffer, index(at))) {
      return false;
    }
    long length = Envelope.length(buffer, index(at));
    return isHeaderOf(from, (int) Math.min(MOST_DOCUMENT_BYTES, length));
  }

  /**
   * All behind the last intact record, in which {@link #find} saw no other: was the file written no
   * further?
   *
   * @param newest whether no file with records follows
   */
  private void reportEnd(Found found, boolean newest) throws IOException {
    long size = size();
    long at = behindMeta(end, size);
    if (at + HEADER_BYTES > size) {
      String detail =
          size == 0 ? "the file is empty" : "the file is cut off at %s bytes".formatted(size);
      found.damage(Kind.TRUNCATED_FILE, Math.min(at, size), 0, 0, detail);
      return;
    }
    if (isEnded(end)) {
      return;
    }
    long last = Math.max(at, nonZeroEnd);
    if (last > at) {
      reportUnfinished(found, newest, at, last, size);
    } else if (!newest) {
      found.damage(Kind.ZEROED_PAGE, at, size - at, 0, NO_END_MARK);
    }
  }

  /** Something is there that is no record; behind {@code last} are zeros. */
  private void reportUnfinished(Found found, boolean newest, long at, long last, long size)
      throws IOException {
    int header = header(at);
    long documentEnd = documentEnd(at);
    Kind kind = kind(at, last);
    String detail = holdNoRecord(last - at);
    if (isData(header) && documentEnd > size) {
      kind = Kind.TRUNCATED_FILE;
      detail = "the file is cut off at %s bytes, within a record".formatted(size);
    } else if (newest && (isUnfinished(header) || isWithoutEnd(header, documentEnd))) {
      kind = Kind.TORN_TAIL;
      detail = "the last record was not finished";
    } else if (!newest && size - last >= SECTOR_BYTES) {
      kind = Kind.ZEROED_PAGE;
      detail = NO_END_MARK;
    }
    found.damage(kind, at, last - at, countDocuments(at, last), detail);
  }

  private boolean isWithoutEnd(int header, long documentEnd) throws IOException {
    return isData(header) && isZero(documentEnd - 8, 8);
  }

  // --- documents

  private static long aligned(long position) {
    return (position + 3) & ~3L;
  }

  /** The document header at {@code at}; 0 beyond the end of the file. */
  private int header(long at) throws IOException {
    return has(at, HEADER_BYTES) ? (int) CHRONICLE_INT.get(buffer, index(at)) : 0;
  }

  /** Whether a header is that of a finished document of ours. */
  private static boolean isData(int header) {
    return header > 0 && (header & END_MARK) == 0;
  }

  /** Whether it is that of a document which is being written or was never finished. */
  private static boolean isUnfinished(int header) {
    return (header & NOT_COMPLETE) != 0 && header != END_MARK;
  }

  /** Whether the header is that of a finished document with a record of {@code length} bytes. */
  private boolean isHeaderOf(long at, int length) throws IOException {
    int header = header(at);
    // Zeros that align the next document count in some versions.
    boolean is = header >= length && header <= aligned(length);
    return is && has(at + HEADER_BYTES, length);
  }

  /** Whether the record at {@code record} belongs to a document that is not finished yet. */
  private boolean isBeingWritten(long record) throws IOException {
    int header = header(record - HEADER_BYTES);
    return header == 0 || (header & NOT_COMPLETE) != 0;
  }

  /** Where the document that begins at {@code at} ends, by its header. */
  private long documentEnd(long at) throws IOException {
    return at + HEADER_BYTES + (header(at) & MOST_DOCUMENT_BYTES);
  }

  /** Skips documents of Chronicle Queue itself: its file header and index. */
  private long behindMeta(long from, long limit) throws IOException {
    long at = from;
    while ((header(at) & END_MARK) == META && at < limit) {
      at = aligned(documentEnd(at));
    }
    return at;
  }

  /** Whether the file was finished where documents end: then nothing follows but zeros. */
  private boolean isEnded(long documentsEnd) throws IOException {
    long at = behindMeta(documentsEnd, size());
    return header(at) == END_MARK && isEndMarkText(at);
  }

  private boolean isEndMarkText(long endMark) throws IOException {
    return header(endMark + HEADER_BYTES) == END_MARK_TEXT;
  }

  /** How many finished documents of ours begin in a stretch, as far as their headers tell. */
  private long countDocuments(long from, long to) throws IOException {
    long count = 0;
    long at = behindMeta(from, to);
    while (at < to && isData(header(at))) {
      count++;
      at = behindMeta(aligned(documentEnd(at)), to);
    }
    return count;
  }

  // --- bytes

  long size() throws IOException {
    return channel.size();
  }

  /** Makes {@code bytes} bytes at {@code position} readable; false when the file ends before. */
  private boolean has(long position, int bytes) throws IOException {
    if (position >= start && position + bytes <= start + filled) {
      return true;
    }
    if (buffer.length < bytes + LOOK_BACK_BYTES) {
      buffer = new byte[Math.max(bytes + LOOK_BACK_BYTES, 2 * buffer.length)];
    }
    start = Math.max(0, position - LOOK_BACK_BYTES);
    ByteBuffer into = ByteBuffer.wrap(buffer);
    int read = 0;
    while (into.hasRemaining() && read >= 0) {
      read = channel.read(into, start + into.position());
    }
    filled = into.position();
    return position + bytes <= start + filled;
  }

  /** Where in the buffer the byte at {@code position} is, after {@link #has}. */
  private int index(long position) {
    return (int) (position - start);
  }

  /**
   * The first place from {@code from} on that holds {@code value}, or -1; zeros are skipped fast.
   */
  private long find(byte value, long from) throws IOException {
    for (long position = from; has(position, 1); position = start + filled) {
      for (int i = index(position); i < filled; i++) {
        if (buffer[i] != 0) {
          nonZeroEnd = start + i + 1;
        }
        if (buffer[i] == value) {
          return start + i;
        }
        if (i % LOOK_BYTES == 0 && i + PAGE_BYTES <= filled && isZeroAt(i, PAGE_BYTES)) {
          i += PAGE_BYTES - 1;
        }
      }
    }
    return -1;
  }

  /**
   * The place behind the last byte that is not zero, from {@code from} on; {@code from} if none.
   */
  long endOfNonZero(long from) throws IOException {
    long last = from;
    for (long position = from; has(position, 1); position = start + filled) {
      int i = filled;
      while (i > index(position) && buffer[i - 1] == 0) {
        int page = i - PAGE_BYTES;
        i = page >= index(position) && isZeroAt(page, PAGE_BYTES) ? page : i - 1;
      }
      if (i > index(position)) {
        last = start + i;
      }
    }
    return last;
  }

  private boolean isZero(long from, int bytes) throws IOException {
    return has(from, bytes) && isZeroAt(index(from), bytes);
  }

  private boolean isZeroAt(int i, int bytes) {
    return Arrays.equals(buffer, i, i + bytes, ZEROS, 0, bytes);
  }

  /**
   * One thing that is wrong with a WAL; immutable.
   *
   * @param file its name within the WAL directory
   * @param offset where the damage begins in the file, in bytes
   * @param bytes how long it is; 0 when nothing is there
   * @param firstMissing sequence of the first record that is missing because of it
   * @param lastMissing sequence of the last one; below {@code firstMissing} when none is known to
   *     be missing
   * @param detail for people
   */
  public record WalDamage(
      Kind kind,
      String file,
      long offset,
      long bytes,
      long firstMissing,
      long lastMissing,
      String detail) {

    /** What happened, as far as bytes tell. */
    public enum Kind {
      /**
       * The newest record was not finished: the process or the host died. Where no record is said
       * to be missing, it was never acknowledged.
       */
      TORN_TAIL,
      /** A record whose bytes changed. */
      BAD_CHECKSUM,
      /** Bytes between or at the head of records that no record explains. */
      DAMAGED_HEADER,
      /** A stretch of zeros where records were. */
      ZEROED_PAGE,
      /** A file that ends before its end. */
      TRUNCATED_FILE,
      /** Sequences are missing between two files, or a file that every WAL has. */
      MISSING_FILE,
      /** A file or records that do not belong to this WAL; they were not handed over. */
      FOREIGN_FILE,
      /** An intact record that this version cannot decode. */
      UNREADABLE_RECORD,
      /** The file system fails to read the file. */
      UNREADABLE_FILE,
      /** A record again, or records in another order than they were written in. */
      OUT_OF_SEQUENCE
    }

    WalDamage hiding(long first, long last) {
      return new WalDamage(kind, file, offset, bytes, first, last, detail);
    }

    /** How many records are known to be missing because of it. */
    public long missing() {
      return Math.max(0, lastMissing - firstMissing + 1);
    }

    @Override
    public String toString() {
      String lost =
          missing() == 0
              ? ""
              : missing() == 1
                  ? ", record %s is missing".formatted(firstMissing)
                  : ", records %s to %s are missing".formatted(firstMissing, lastMissing);
      return "%s in %s at %s (%s bytes): %s%s".formatted(kind, file, offset, bytes, detail, lost);
    }
  }

  /**
   * A file of a WAL and what its first intact record says of it; immutable.
   *
   * @param tag of the WAL that wrote the record; null when there is none
   * @param firstSequence of that record; without it the highest number
   */
  record WalFile(Path path, @Nullable Integer tag, long firstSequence) {
    String name() {
      return String.valueOf(path.getFileName());
    }

    boolean isOf(int wal) {
      return tag != null && tag == wal;
    }
  }
}
