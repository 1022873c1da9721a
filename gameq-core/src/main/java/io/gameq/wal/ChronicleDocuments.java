package io.gameq.wal;

import java.io.IOException;

/**
 * What Chronicle Queue wrote around the records of one file: used to tell damage from health, never
 * to find records. Not thread-safe.
 *
 * <pre>
 * file     = document, document, ... end mark, zeros
 * document = int32, little-endian: length in the lowest 30 bits, 0x40000000 Chronicle Queue's own,
 *            0x80000000 being written; 0: nothing was written here yet
 *            then as many bytes, a multiple of 4: for us one record with its envelope
 * end mark = 0xC0000000, then 0xC3 "EOF"
 * </pre>
 */
final class ChronicleDocuments {
  static final int HEADER_BYTES = 4;

  /** The longest document that a header can tell of. */
  static final int MOST_BYTES = 0x3FFFFFFF;

  private static final int META = 0x40000000;
  private static final int NOT_COMPLETE = 0x80000000;
  private static final int END_MARK = NOT_COMPLETE | META;
  private static final int END_MARK_TEXT = 0x464F45C3;

  private final FileWindow window;

  ChronicleDocuments(FileWindow window) {
    this.window = window;
  }

  static long aligned(long position) {
    return (position + 3) & ~3L;
  }

  /** The document header at {@code at}; 0 beyond the end of the file. */
  private int header(long at) throws IOException {
    return window.has(at, HEADER_BYTES) ? window.chronicleInt(at) : 0;
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
    return is && window.has(at + HEADER_BYTES, length);
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
  long end(long at) throws IOException {
    return at + HEADER_BYTES + (header(at) & MOST_BYTES);
  }

  /** Skips documents of Chronicle Queue itself: its file header and index. */
  long behindMeta(long from, long limit) throws IOException {
    long at = from;
    while (isMeta(header(at)) && at < limit) {
      at = aligned(end(at));
    }
    return at;
  }

  /** Whether the file was finished where documents end: then nothing follows but zeros. */
  boolean isEnded(long documentsEnd) throws IOException {
    long at = behindMeta(documentsEnd, window.size());
    return header(at) == END_MARK && isEndMarkText(at);
  }

  private boolean isEndMarkText(long endMark) throws IOException {
    return header(endMark + HEADER_BYTES) == END_MARK_TEXT;
  }

  /** Whether the file was begun and nothing was written into it yet. */
  boolean isEmpty() throws IOException {
    long at = behindMeta(0, window.size());
    return window.endOfNonZero(at) == at;
  }

  /** Whether its first record is being written. */
  boolean isAtFirst() throws IOException {
    long at = behindMeta(0, window.size());
    return (header(at) & NOT_COMPLETE) != 0 && !isEndMarkText(at);
  }

  /** How many finished documents of ours begin in a stretch, as far as their headers tell. */
  long count(long from, long to) throws IOException {
    long count = 0;
    long at = behindMeta(from, to);
    while (at < to && isData(at)) {
      count++;
      at = behindMeta(aligned(end(at)), to);
    }
    return count;
  }
}
