package io.gameq.wal;

import io.gameq.wal.WalCodec.Envelope;
import io.gameq.wal.WalDirectory.WalFile;
import io.gameq.wal.WalReader.WalDamage.Kind;
import java.io.IOException;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * Finds every intact record of one file, and reports the bytes between them that are not as they
 * should be. Not thread-safe.
 */
final class FileScan {
  private static final int HEADER_BYTES = FileWindow.HEADER_BYTES;
  private static final String NO_END_MARK = "zeros where the file's end mark should be";
  private static final int PAGE_BYTES = 4096;
  private static final int SECTOR_BYTES = 512;

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
  private long end; // of what was handed over: where the next document begins
  private long lastSequence;
  private boolean healthy = true; // nothing damaged or missing in this file up to there

  FileScan(FileWindow window, int tag, Found found) {
    this.window = window;
    this.tag = tag;
    this.found = found;
  }

  /** What the first intact record of any WAL says of a file; null when there is none. */
  static @Nullable WalFile first(Path path, FileWindow window) throws IOException {
    for (long at = window.find(Envelope.FIRST, 0);
        at >= 0;
        at = window.find(Envelope.FIRST, at + 1)) {
      if (intact(window, at) > 0) {
        int index = window.index(at);
        return new WalFile(
            path, Envelope.tag(window.buffer(), index), Envelope.sequence(window.buffer(), index));
      }
    }
    return null;
  }

  /** Whether its writer, which is alive, is at its first record, or past it by now. */
  static boolean isBeingBegun(Path path, FileWindow window) throws IOException {
    window.forget();
    boolean atFirst = window.isAtFirstDocument();
    window.forget();
    return atFirst || first(path, window) != null;
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
      if (length > 0 && window.isHeaderOf(end, length)) {
        handOver(end + HEADER_BYTES, length);
        continue;
      }
      if (healthy && window.isEnded(end)) {
        return; // a piece of the file's end may have been written over its middle: else look on
      }
      long next = find(end);
      if (growing) {
        if (next < 0 || (window.isBeingWritten(next) && find(next + 1) < 0)) {
          return;
        }
        window.forget(); // a record that is whole has only whole ones before it, by now
        length = intactHere(end + HEADER_BYTES);
        if (length > 0 && window.isHeaderOf(end, length)) {
          continue;
        }
      }
      if (next < 0) {
        reportEnd(newest);
        return;
      }
      reportBefore(next);
      handOver(next, intactHere(next));
    }
  }

  private void handOver(long at, int length) {
    long sequence = Envelope.sequence(window.buffer(), window.index(at));
    healthy &= end == 0 || sequence == lastSequence + 1;
    lastSequence = sequence;
    found.record(window.buffer(), window.index(at), length, at);
    end = FileWindow.aligned(at + length);
  }

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
  private void reportBefore(long next) throws IOException {
    long header = next - HEADER_BYTES;
    boolean known = header >= end && window.isHeaderOf(header, intactHere(next));
    if (known && window.behindMeta(end, header) == header) {
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
    if (!window.has(from, HEADER_BYTES + Envelope.BYTES)
        || !window.isData(from)
        || !Envelope.beginsAt(window.buffer(), window.index(at))) {
      return false;
    }
    long length = Envelope.length(window.buffer(), window.index(at));
    return window.isHeaderOf(from, (int) Math.min(FileWindow.MOST_DOCUMENT_BYTES, length));
  }

  /**
   * All behind the last intact record: was the file written no further?
   *
   * @param newest whether no file with records follows
   */
  private void reportEnd(boolean newest) throws IOException {
    long size = window.size();
    long at = window.behindMeta(end, size);
    if (at + HEADER_BYTES > size) {
      String detail =
          size == 0 ? "the file is empty" : "the file is cut off at %s bytes".formatted(size);
      found.damage(Kind.TRUNCATED_FILE, Math.min(at, size), 0, 0, detail);
      return;
    }
    if (window.isEnded(end)) {
      return;
    }
    long last = window.endOfNonZero(at);
    if (last > at) {
      reportUnfinished(newest, at, last, size);
    } else if (!newest) {
      found.damage(Kind.ZEROED_PAGE, at, size - at, 0, NO_END_MARK);
    }
  }

  /** Something is there that is no record; behind {@code last} are zeros. */
  private void reportUnfinished(boolean newest, long at, long last, long size) throws IOException {
    boolean isData = window.isData(at);
    long documentEnd = window.documentEnd(at);
    Kind kind = kind(at, last);
    String detail = holdNoRecord(last - at);
    if (isData && documentEnd > size) {
      kind = Kind.TRUNCATED_FILE;
      detail = "the file is cut off at %s bytes, within a record".formatted(size);
    } else if (newest
        && (window.isUnfinished(at) || (isData && window.isZero(documentEnd - 8, 8)))) {
      kind = Kind.TORN_TAIL;
      detail = "the last record was not finished";
    } else if (!newest && size - last >= SECTOR_BYTES) {
      kind = Kind.ZEROED_PAGE;
      detail = NO_END_MARK;
    }
    found.damage(kind, at, last - at, window.countDocuments(at, last), detail);
  }
}
