package io.gameq.wal;

import io.gameq.wal.WalDamage.Kind;
import java.io.IOException;
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
}
