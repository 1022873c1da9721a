package io.gameq.wal;

import io.gameq.wal.FileScan.Envelope;
import io.gameq.wal.WalDamage.Kind;
import io.gameq.wal.WalWriter.WalNeeds;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Which files of a WAL stay: those with records that are needed, and those that are younger than
 * {@link io.gameq.WalLimits#keep}, or have messages that Redis may yet lose, while {@link
 * io.gameq.WalLimits#maxBytes} allow. Where little of the oldest ones is needed, it is written
 * again first, as carried records. Never touches the newest file.
 *
 * <p>Thread-safe by the writer's lock; {@link #retain} is for one thread at a time, and holds up
 * the writer for one record at a time. Killed anywhere, each needed record stands in one place or
 * in two: nothing is deleted before its other place was {@linkplain WalWriter#sync synced}.
 */
final class Retention {
  private static final Logger LOG = LoggerFactory.getLogger(Retention.class);

  private final WalWriter writer;
  private final ClosedFiles files;
  private final CarriedPlaces places = new CarriedPlaces();
  private long neededFrom;
  private boolean isCarriedUnsynced;
  private int holds;

  Retention(WalWriter writer, ClosedFiles files, long firstSequence) {
    this.writer = writer;
    this.files = files;
    this.neededFrom = firstSequence;
  }

  void retain(WalNeeds needs) {
    synchronized (writer) {
      places.keepOnly(needs.records());
      files.keepMessagesFrom(needs.messagesFrom());
    }
    while (true) {
      syncCarried();
      long[] waiting = places.of(needs.records()); // only this thread changes places
      needFrom(waiting.length == 0 ? needs.from() : Math.min(waiting[0], needs.from()));
      ClosedFiles.Sparse oldest = sparse(waiting, needs.from());
      if (oldest == null || !carry(oldest)) {
        return;
      }
    }
  }

  private void syncCarried() {
    if (isCarriedUnsynced) {
      writer.sync();
      isCarriedUnsynced = false;
    }
  }

  private void needFrom(long place) {
    synchronized (writer) {
      neededFrom = Math.max(neededFrom, place);
      deleteUnneeded();
    }
  }

  /** Makes room, by what is known to be unneeded. */
  void deleteUnneeded() {
    synchronized (writer) {
      long newest = writer.position();
      if (holds == 0 && newest >= 0) {
        files.delete(neededFrom, newest);
        writer.noteBytes();
      }
    }
  }

  private ClosedFiles.@Nullable Sparse sparse(long[] waiting, long carriedBelow) {
    synchronized (writer) {
      long newest = writer.position();
      return holds == 0 && newest >= 0 ? files.sparse(waiting, carriedBelow, newest) : null;
    }
  }

  /** Writes what is needed of the oldest file again; false when that does not help. */
  private boolean carry(ClosedFiles.Sparse oldest) {
    if (oldest.places().length == 0) {
      return false; // it could not be deleted, and will be tried again
    }
    LiveRecords live;
    try { // nobody else deletes it: it is needed
      live = LiveRecords.read(oldest);
    } catch (IOException e) {
      LOG.warn("cannot read {}: {}", oldest.file(), e.toString());
      return false;
    }
    if (!live.isWhole()) {
      LOG.error(
          "{} is kept: it is damaged, and holds records that wait for MySQL; see 'gameq-recovery"
              + " inspect'",
          oldest.file());
    }
    if (!live.isWhole() || live.bytes() > oldest.mostBytes()) {
      synchronized (writer) {
        files.measured(
            live.isWhole() ? (double) live.bytes() / oldest.places().length : Double.MAX_VALUE);
      }
      return true; // it is not sparse any more
    }
    isCarriedUnsynced = true;
    for (LiveRecords.Live record : live.records()) {
      synchronized (writer) {
        places.put(record.sequence(), writer.appendCarried(record));
      }
    }
    LOG.info(
        "carried {} records forward, whose rows wait for MySQL, from {}",
        live.records().size(),
        oldest.file());
    return true;
  }

  long place(long sequence) {
    synchronized (writer) {
      return sequence < files.first() && !places.has(sequence) ? 0 : places.of(sequence);
    }
  }

  void hold() {
    synchronized (writer) {
      holds++;
    }
  }

  void release() {
    synchronized (writer) {
      holds--;
    }
  }

  /** Where records stand by now: most where they were written first. Not thread-safe. */
  static final class CarriedPlaces {
    private final Map<Long, Long> places = new HashMap<>();

    /** Notes that a record stands in another place too, from where it is to be read. */
    void put(long sequence, long place) {
      places.put(sequence, place);
    }

    /** Forgets records that nothing needs any more. */
    void keepOnly(long[] needed) {
      places.keySet().removeIf(sequence -> Arrays.binarySearch(needed, sequence) < 0);
    }

    boolean has(long sequence) {
      return places.containsKey(sequence);
    }

    long of(long sequence) {
      return places.isEmpty() ? sequence : places.getOrDefault(sequence, sequence);
    }

    /** The places of records, the lowest first. */
    long[] of(long[] sequences) {
      return places.isEmpty()
          ? sequences
          : LongStream.of(sequences).map(this::of).sorted().toArray();
    }
  }

  /** Those records of a finished file that are still needed, as bytes. Not thread-safe. */
  static final class LiveRecords implements FileScan.Found {
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

    /**
     * Whether each was found once: else damage hides one, and the file may be all there is of it.
     */
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
}
