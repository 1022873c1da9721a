package io.gameq.wal;

import io.gameq.wal.WalDamage.Kind;
import io.gameq.wal.WalReading.WalFile;
import java.io.IOException;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;

/**
 * Finds every intact record of one file, and reports the bytes between them that are not as they
 * should be. Not thread-safe.
 */
final class FileScan {
  private static final int HEADER_BYTES = ChronicleDocuments.HEADER_BYTES;

  /** Takes what is found, in the order of the file. */
  interface Found {
    /** An intact record: {@code length} bytes of {@code buffer}, which are valid for this call. */
    void record(byte[] buffer, int at, int length, long offset);

    /**
     * Bytes that are not as they should be.
     *
     * @param records how many are known to be lost, where no later record tells
     */
    void damage(Kind kind, long offset, long bytes, long records, String detail);
  }

  private final FileWindow window;
  private final int tag;
  private final Found found;
  private final ChronicleDocuments documents;
  private final DamagedBytes damaged;
  private long end; // of what was handed over: where the next document begins
  private long lastSequence;
  private boolean healthy = true; // nothing damaged or missing in this file up to there

  FileScan(FileWindow window, int tag, Found found) {
    this.window = window;
    this.tag = tag;
    this.found = found;
    this.documents = new ChronicleDocuments(window);
    this.damaged = new DamagedBytes(window, documents, found);
  }

  /** The envelope of the first intact record of any WAL, or null. */
  static WalFile.@Nullable First first(FileWindow window) throws IOException {
    for (long at = window.find(Envelope.FIRST, 0);
        at >= 0;
        at = window.find(Envelope.FIRST, at + 1)) {
      if (intact(window, at) > 0) {
        int index = window.index(at);
        return new WalFile.First(
            Envelope.tag(window.buffer(), index), Envelope.sequence(window.buffer(), index));
      }
    }
    return null;
  }

  /** Whether its writer, which is alive, is at its first record, or past it by now. */
  static boolean isBeingBegun(FileWindow window) throws IOException {
    window.forget();
    boolean atFirst = new ChronicleDocuments(window).isAtFirst();
    window.forget();
    return atFirst || first(window) != null;
  }

  /**
   * Hands over everything up to the end of the file; called again, what came since.
   *
   * @param newest whether no file with records follows
   * @param growing whether its writer is alive and may be writing: then what is unfinished is no
   *     damage
   */
  void run(boolean newest, boolean growing) throws IOException {
    window.forget();
    while (true) {
      int length = intactHere(end + HEADER_BYTES);
      if (length > 0 && documents.isHeaderOf(end, length)) {
        handOver(end + HEADER_BYTES, length);
        continue;
      }
      if (healthy && documents.isEnded(end)) {
        return; // a piece of the file's end may have been written over its middle: else look on
      }
      long next = find(end);
      if (growing) {
        if (next < 0 || (documents.isBeingWritten(next) && find(next + 1) < 0)) {
          return;
        }
        window.forget(); // a record that is whole has only whole ones before it, by now
        length = intactHere(end + HEADER_BYTES);
        if (length > 0 && documents.isHeaderOf(end, length)) {
          continue;
        }
      }
      if (next < 0) {
        damaged.atEnd(end, newest);
        return;
      }
      between(next);
      handOver(next, intactHere(next));
    }
  }

  private void handOver(long at, int length) {
    long sequence = Envelope.sequence(window.buffer(), window.index(at));
    healthy &= end == 0 || sequence == lastSequence + 1;
    lastSequence = sequence;
    found.record(window.buffer(), window.index(at), length, at);
    end = ChronicleDocuments.aligned(at + length);
  }

  // --- records

  /**
   * Bytes of the intact record at {@code at}, which are then in the window; 0 when there is none.
   */
  private static int intact(FileWindow window, long at) throws IOException {
    if (!window.has(at, Envelope.BYTES) || !Envelope.beginsAt(window.buffer(), window.index(at))) {
      return 0;
    }
    long length = Envelope.length(window.buffer(), window.index(at));
    if (length > AppendedFiles.MOST_RECORD_BYTES || !window.has(at, (int) length)) {
      return 0;
    }
    return Envelope.isIntact(window.buffer(), window.index(at), (int) length) ? (int) length : 0;
  }

  private int intactHere(long at) throws IOException {
    int length = intact(window, at);
    return length > 0 && Envelope.tag(window.buffer(), window.index(at)) == tag ? length : 0;
  }

  /** At any byte: files that were cut apart and joined need not be aligned. */
  private long find(long from) throws IOException {
    for (long at = window.find(Envelope.FIRST, from);
        at >= 0;
        at = window.find(Envelope.FIRST, at + 1)) {
      if (intactHere(at) > 0) {
        return at;
      }
    }
    return -1;
  }

  // --- what is no record

  /** Reports what lies before the intact record {@code next}, unless it is as it should be. */
  private void between(long next) throws IOException {
    long header = next - HEADER_BYTES;
    boolean known = header >= end && documents.isHeaderOf(header, intactHere(next));
    if (known && documents.behindMeta(end, header) == header) {
      return;
    }
    healthy = false;
    damaged.between(end, known ? header : next);
  }

  /**
   * What stands before each record so that it can be found and believed wherever it lies.
   * Stateless.
   *
   * <pre>
   * magic "GQW1" (4) | CRC-32C of all that follows (4) | bytes of the body (4) | tag (4) | sequence
   *   (8) | body
   * </pre>
   *
   * <p>The tag is this WAL's own: a blob in a row that looks like a record is not taken for one,
   * even when the record around it is damaged.
   */
  static final class Envelope {
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

  /**
   * Tells what happened to bytes of one file that hold no intact record, and reports it, unless
   * they are as they should be. Not thread-safe.
   */
  static final class DamagedBytes {
    private static final int HEADER_BYTES = ChronicleDocuments.HEADER_BYTES;
    private static final String NO_END_MARK = "zeros where the file's end mark should be";
    private static final int PAGE_BYTES = 4096;
    private static final int SECTOR_BYTES = 512;

    private final FileWindow window;
    private final ChronicleDocuments documents;
    private final Found found;

    DamagedBytes(FileWindow window, ChronicleDocuments documents, Found found) {
      this.window = window;
      this.documents = documents;
      this.found = found;
    }

    private static String holdNoRecord(long bytes) {
      return "%s bytes hold no record".formatted(bytes);
    }

    /** Bytes that intact records follow. */
    void between(long from, long to) throws IOException {
      found.damage(kind(from, to), from, to - from, 0, holdNoRecord(to - from));
    }

    private Kind kind(long from, long to) throws IOException {
      if (isZeroed(from, to)) {
        return Kind.ZEROED_PAGE;
      }
      return isRecordOfWrongBytes(from) ? Kind.BAD_CHECKSUM : Kind.DAMAGED_HEADER;
    }

    private boolean isZeroed(long from, long to) throws IOException {
      if (to - from >= SECTOR_BYTES && window.isZero(from, (int) Math.min(to - from, PAGE_BYTES))) {
        return true;
      }
      boolean withIndex = from == 0; // of Chronicle Queue, which is mostly zeros
      for (long page = (from + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES;
          page + PAGE_BYTES <= to && !withIndex;
          page += PAGE_BYTES) {
        if (window.isZero(page, PAGE_BYTES)) {
          return true;
        }
      }
      return false;
    }

    /** Whether all that tells a record's length is as it should be. */
    private boolean isRecordOfWrongBytes(long from) throws IOException {
      long at = from + HEADER_BYTES;
      return window.has(from, HEADER_BYTES + Envelope.BYTES)
          && documents.isData(from)
          && Envelope.beginsAt(window.buffer(), window.index(at))
          && documents.isHeaderOf(
              from,
              (int)
                  Math.min(
                      ChronicleDocuments.MOST_BYTES,
                      Envelope.length(window.buffer(), window.index(at))));
    }

    /**
     * All behind the last intact record: was the file written no further?
     *
     * @param newest whether no file with records follows
     */
    void atEnd(long recordsEnd, boolean newest) throws IOException {
      long size = window.size();
      long at = documents.behindMeta(recordsEnd, size);
      if (at + HEADER_BYTES > size) {
        String detail =
            size == 0 ? "the file is empty" : "the file is cut off at %s bytes".formatted(size);
        found.damage(Kind.TRUNCATED_FILE, Math.min(at, size), 0, 0, detail);
        return;
      }
      if (documents.isEnded(recordsEnd)) {
        return;
      }
      long last = window.endOfNonZero(at);
      if (last > at) {
        remains(newest, at, last, size);
      } else if (!newest) {
        found.damage(Kind.ZEROED_PAGE, at, size - at, 0, NO_END_MARK);
      }
    }

    /** Something is there that is no record; behind {@code last} are zeros. */
    private void remains(boolean newest, long at, long last, long size) throws IOException {
      boolean isData = documents.isData(at);
      long documentEnd = documents.end(at);
      Kind kind = kind(at, last);
      String detail = holdNoRecord(last - at);
      if (isData && documentEnd > size) {
        kind = Kind.TRUNCATED_FILE;
        detail = "the file is cut off at %s bytes, within a record".formatted(size);
      } else if (newest
          && (documents.isUnfinished(at) || (isData && window.isZero(documentEnd - 8, 8)))) {
        kind = Kind.TORN_TAIL;
        detail = "the last record was not finished";
      } else if (!newest && size - last >= SECTOR_BYTES) {
        kind = Kind.ZEROED_PAGE;
        detail = NO_END_MARK;
      }
      found.damage(kind, at, last - at, documents.count(at, last), detail);
    }
  }
}
