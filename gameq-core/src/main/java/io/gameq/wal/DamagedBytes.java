package io.gameq.wal;

import io.gameq.wal.FileScan.Found;
import io.gameq.wal.WalDamage.Kind;
import java.io.IOException;

/**
 * Tells what happened to bytes of one file that hold no intact record, and reports it, unless they
 * are as they should be. Not thread-safe.
 */
final class DamagedBytes {
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
