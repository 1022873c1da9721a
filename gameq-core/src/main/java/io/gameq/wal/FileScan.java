package io.gameq.wal;

import io.gameq.wal.WalDamage.Kind;
import java.io.IOException;
import org.jspecify.annotations.Nullable;

/**
 * Finds every intact record of one file. What Chronicle Queue wrote between records is used to tell
 * damage from health, never to find records. Not thread-safe.
 *
 * <pre>
 * file     = document, document, ... end mark, zeros
 * document = int32, little-endian: length in the lowest 30 bits, 0x40000000 Chronicle Queue's own,
 *            0x80000000 being written; 0: nothing was written here yet
 *            then as many bytes, a multiple of 4: for us one record with its envelope
 * end mark = 0xC0000000, then 0xC3 "EOF"
 * </pre>
 */
final class FileScan {
  private static final int HEADER_BYTES = 4;
  private static final int META = 0x40000000;
  private static final int NOT_COMPLETE = 0x80000000;
  private static final int END_MARK = NOT_COMPLETE | META;
  private static final int LENGTH = 0x3FFFFFFF;
  private static final int END_MARK_TEXT = 0x464F45C3;
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

  private static final Found NOTHING =
      new Found() {
        @Override
        public void record(byte[] buffer, int at, int length, long offset) {}

        @Override
        public void damage(Kind kind, long offset, long bytes, long records, String detail) {}
      };

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

  /** Whether a file was begun and nothing was written into it yet. */
  static boolean holdsNoDocument(FileWindow window) throws IOException {
    FileScan scan = new FileScan(window, 0, NOTHING);
    long at = scan.behindMeta(0, window.size());
    return window.endOfNonZero(at) == at;
  }

  /** Whether its writer, which is alive, is at its first record, or past it by now. */
  static boolean isBeingBegun(FileWindow window) throws IOException {
    window.forget();
    FileScan scan = new FileScan(window, 0, NOTHING);
    long at = scan.behindMeta(0, window.size());
    boolean atFirst =
        (scan.header(at) & NOT_COMPLETE) != 0 && scan.header(at + HEADER_BYTES) != END_MARK_TEXT;
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
      if (length > 0 && isHeaderOf(end, length)) {
        handOver(end + HEADER_BYTES, length);
        continue;
      }
      if (healthy && isEnded()) {
        return; // a piece of the file's end may have been written over its middle: else look on
      }
      long next = find(end);
      if (growing) {
        if (next < 0 || (isBeingWritten(next) && find(next + 1) < 0)) {
          return;
        }
        window.forget(); // a record that is whole has only whole ones before it, by now
        length = intactHere(end + HEADER_BYTES);
        if (length > 0 && isHeaderOf(end, length)) {
          continue;
        }
      }
      if (next < 0) {
        endOfFile(newest);
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
    end = aligned(at + length);
  }

  private static long aligned(long position) {
    return (position + 3) & ~3L;
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
    if (length > WalWriter.MOST_RECORD_BYTES || !window.has(at, (int) length)) {
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

  // --- Chronicle Queue's documents

  /** The document header at {@code at}; 0 beyond the end of the file. */
  private int header(long at) throws IOException {
    return window.has(at, HEADER_BYTES) ? window.chronicleInt(at) : 0;
  }

  private boolean isHeaderOf(long at, int length) throws IOException {
    int header = header(at);
    // Zeros that align the next document count in some versions.
    boolean is = header >= length && header <= aligned(length);
    return is && window.has(at + HEADER_BYTES, length);
  }

  private boolean isBeingWritten(long record) throws IOException {
    int header = header(record - HEADER_BYTES);
    return header == 0 || (header & NOT_COMPLETE) != 0;
  }

  private static boolean isMeta(int header) {
    return (header & END_MARK) == META;
  }

  private static boolean isData(int header) {
    return header > 0 && (header & END_MARK) == 0;
  }

  /** Skips documents of Chronicle Queue itself: its file header and index. */
  private long behindMeta(long from, long limit) throws IOException {
    long at = from;
    for (int header = header(at); isMeta(header) && at < limit; header = header(at)) {
      at = aligned(at + HEADER_BYTES + (header & LENGTH));
    }
    return at;
  }

  /** Whether the file was finished where it should be: then nothing follows but zeros. */
  private boolean isEnded() throws IOException {
    long at = behindMeta(end, window.size());
    return header(at) == END_MARK && header(at + HEADER_BYTES) == END_MARK_TEXT;
  }

  // --- what is no record

  /** Reports what lies before the intact record {@code next}, unless it is as it should be. */
  private void between(long next) throws IOException {
    long header = next - HEADER_BYTES;
    int length = intactHere(next);
    boolean known = header >= end && isHeaderOf(header, length);
    if (known && behindMeta(end, header) == header) {
      return;
    }
    healthy = false;
    long from = end;
    long to = known ? header : next;
    found.damage(
        kind(from, to), from, to - from, 0, "%d bytes hold no record".formatted(to - from));
  }

  private Kind kind(long from, long to) throws IOException {
    if (to - from >= SECTOR_BYTES && window.isZero(from, (int) Math.min(to - from, PAGE_BYTES))) {
      return Kind.ZEROED_PAGE;
    }
    boolean withIndex = from == 0; // of Chronicle Queue, which is mostly zeros
    for (long page = (from + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES;
        page + PAGE_BYTES <= to && !withIndex;
        page += PAGE_BYTES) {
      if (window.isZero(page, PAGE_BYTES)) {
        return Kind.ZEROED_PAGE;
      }
    }
    long at = from + HEADER_BYTES;
    if (window.has(from, HEADER_BYTES + Envelope.BYTES)
        && isData(header(from))
        && Envelope.beginsAt(window.buffer(), window.index(at))
        && isHeaderOf(
            from, (int) Math.min(LENGTH, Envelope.length(window.buffer(), window.index(at))))) {
      return Kind.BAD_CHECKSUM;
    }
    return Kind.DAMAGED_HEADER;
  }

  /** No further record: was the file written no further? */
  private void endOfFile(boolean newest) throws IOException {
    long size = window.size();
    long at = behindMeta(end, size);
    if (at + HEADER_BYTES > size) {
      String detail =
          size == 0 ? "the file is empty" : "the file is cut off at %d bytes".formatted(size);
      found.damage(Kind.TRUNCATED_FILE, Math.min(at, size), 0, 0, detail);
      return;
    }
    if (isEnded()) {
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
    int header = header(at);
    long documentEnd = at + HEADER_BYTES + (header & LENGTH);
    boolean unfinished = (header & NOT_COMPLETE) != 0 && header != END_MARK;
    Kind kind = kind(at, last);
    String detail = "%d bytes hold no record".formatted(last - at);
    if (isData(header) && documentEnd > size) {
      kind = Kind.TRUNCATED_FILE;
      detail = "the file is cut off at %d bytes, within a record".formatted(size);
    } else if (newest && (unfinished || (isData(header) && window.isZero(documentEnd - 8, 8)))) {
      kind = Kind.TORN_TAIL;
      detail = "the last record was not finished";
    } else if (!newest && size - last >= SECTOR_BYTES) {
      kind = Kind.ZEROED_PAGE;
      detail = NO_END_MARK;
    }
    found.damage(kind, at, last - at, documents(at, last), detail);
  }

  /** How many finished documents of ours begin in a stretch, as far as their headers tell. */
  private long documents(long from, long to) throws IOException {
    long count = 0;
    long at = behindMeta(from, to);
    while (at < to && isData(header(at))) {
      count++;
      at = behindMeta(aligned(at + HEADER_BYTES + header(at)), to);
    }
    return count;
  }
}
