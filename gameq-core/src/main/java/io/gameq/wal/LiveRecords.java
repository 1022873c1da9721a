package io.gameq.wal;

import io.gameq.wal.WalDamage.Kind;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;

/** Those records of a finished file that are still needed, as bytes. Not thread-safe. */
final class LiveRecords implements FileScan.Found {
  private static final int WINDOW_BYTES = 1 << 20;

  private final long[] places;
  private final long mostBytes;
  private final List<Live> found = new ArrayList<>();
  private long bytes;
  private long count;

  /** A record: the sequence that names it, and its body. */
  record Live(long sequence, byte[] body) {}

  private LiveRecords(long[] places, long mostBytes) {
    this.places = places;
    this.mostBytes = mostBytes;
  }

  /** Reads a file; more than may be carried is measured, not kept. */
  static LiveRecords read(ClosedFiles.Sparse of) throws IOException {
    LiveRecords live = new LiveRecords(of.places(), of.mostBytes());
    Path wal = Objects.requireNonNull(of.file().getParent());
    int tag = Envelope.tag(String.valueOf(wal.getFileName()));
    try (FileWindow window = new FileWindow(of.file(), WINDOW_BYTES)) {
      new FileScan(window, tag, live).run(false, false);
    }
    return live;
  }

  @Override
  public void record(byte[] buffer, int at, int length, long offset) {
    long place = Envelope.sequence(buffer, at);
    if (Arrays.binarySearch(places, place) < 0) {
      return;
    }
    count++;
    bytes += length;
    if (bytes <= mostBytes) {
      int end = at + length;
      WalCodec.First first = WalCodec.first(buffer, at + Envelope.BYTES, end, place);
      found.add(new Live(first.sequence(), Arrays.copyOfRange(buffer, first.bodyFrom(), end)));
    } else {
      found.clear();
    }
  }

  @Override
  public void damage(Kind kind, long offset, long length, long records, String detail) {
    // which record it hides, the count tells
  }

  /** Whether each was found once: else damage hides one, and the file may be all there is of it. */
  boolean isWhole() {
    return count == places.length;
  }

  /** Of all that were found. */
  long bytes() {
    return bytes;
  }

  /** In the order in which they were committed; empty when they are too large. */
  List<Live> records() {
    found.sort(Comparator.comparingLong(Live::sequence));
    return found;
  }
}
