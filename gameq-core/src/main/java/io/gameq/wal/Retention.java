package io.gameq.wal;

import io.gameq.config.WalLimits;
import io.gameq.wal.WalCodec.Decoder;
import io.gameq.wal.WalCodec.Envelope;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Deque;
import java.util.HashMap;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Which files of a WAL stay: those with records that are needed, and those that are younger than
 * {@link io.gameq.config.WalLimits#keep}, or have messages that Redis may yet lose, while {@link
 * io.gameq.config.WalLimits#maxBytes} allow. Where little of the oldest ones is needed, it is
 * written again first, as carried records. Never touches the newest file.
 *
 * <p>Used under the writer's lock but for {@link #read}. Killed anywhere, each needed record stands
 * in one place or in two: nothing is deleted before its other place was {@linkplain WalWriter#sync
 * synced}.
 */
final class Retention {
  private static final Logger LOG = LoggerFactory.getLogger(Retention.class);

  /**
   * What is still needed is carried forward when it is at most one in so many bytes of the oldest
   * files: so a carried row costs little, and what is left is never many times what is needed.
   */
  private static final int CARRIED_SHARE = 4;

  private final Path directory;
  private final int tag;
  private final WalLimits limits;
  private final Deque<ClosedFile> files = new ArrayDeque<>(); // oldest first
  private final Map<Long, Long> carried = new HashMap<>(); // where records stand now, if elsewhere
  private long bytes;
  private long first; // sequence that was not deleted
  private long neededFrom;
  private long messagesFrom = Long.MAX_VALUE;
  private int holds;

  /** A file that nothing is appended to any more. */
  private static final class ClosedFile {
    private final Path path;
    private final long lastSequence;
    private final long bytes;
    private final long closedNanos = System.nanoTime();
    private double bytesPerRecord;

    ClosedFile(Path path, long firstSequence, long lastSequence, long bytes) {
      this.path = path;
      this.lastSequence = lastSequence;
      this.bytes = bytes;
      this.bytesPerRecord = (double) bytes / (lastSequence - firstSequence + 1);
    }
  }

  Retention(Path directory, int tag, WalLimits limits, long firstSequence) {
    this.directory = directory;
    this.tag = tag;
    this.limits = limits;
    this.first = firstSequence;
    this.neededFrom = firstSequence;
  }

  /** Takes note of a file that nothing is appended to any more. */
  void add(String name, long lastSequence, long bytesWritten) {
    files.add(new ClosedFile(directory.resolve(name), end(), lastSequence, bytesWritten));
    bytes += bytesWritten;
  }

  /** The first sequence behind the closed files. */
  long end() {
    ClosedFile newest = files.peekLast();
    return newest == null ? first : newest.lastSequence + 1;
  }

  /** Bytes of the closed files. */
  long bytes() {
    return bytes;
  }

  /**
   * Deletes what is not needed, see {@link WalWriter.WalNeeds}, once all that was carried is
   * synced; returns the oldest file when little of it is needed, null when there is none.
   *
   * @param position in the newest file, -1 when nothing can be written any more
   */
  @Nullable Sparse trim(long[] records, long from, long newMessagesFrom, long position) {
    carried.keySet().removeIf(of -> Arrays.binarySearch(records, of) < 0);
    messagesFrom = newMessagesFrom;
    long[] waiting = LongStream.of(records).map(this::standsAt).sorted().toArray();
    neededFrom = Math.max(neededFrom, waiting.length == 0 ? from : Math.min(waiting[0], from));
    deleteUnneeded(position);
    return isIdle(position) ? sparse(waiting, from, position) : null;
  }

  /** Where a record stands by now: most where they were written first. */
  private long standsAt(long sequence) {
    return carried.isEmpty() ? sequence : carried.getOrDefault(sequence, sequence);
  }

  /** Nobody reads, and something can still be written. */
  private boolean isIdle(long position) {
    return holds == 0 && position >= 0;
  }

  /** Deletes the oldest files while nothing needs them. */
  void deleteUnneeded(long position) {
    if (!isIdle(position)) {
      return;
    }
    for (ClosedFile oldest; (oldest = files.peek()) != null; ) {
      if (oldest.lastSequence >= neededFrom || !(isOld(oldest) || isTooMany(position))) {
        break;
      }
      long next = oldest.lastSequence + 1;
      try {
        // Before the file goes: else it is missed.
        WalDirectory.write(directory, WalDirectory.TRIMMED_FILE, next);
        Files.deleteIfExists(oldest.path);
      } catch (IOException e) {
        LOG.warn("cannot delete {} from the WAL: {}", oldest.path, e.toString());
        break;
      }
      files.remove();
      bytes -= oldest.bytes;
      first = next;
    }
  }

  private boolean isOld(ClosedFile file) {
    return file.lastSequence < messagesFrom
        && System.nanoTime() - file.closedNanos > limits.keep().toNanos();
  }

  private boolean isTooMany(long position) {
    return bytes + position > limits.maxBytes() - limits.fileBytes();
  }

  // --- carrying records forward

  /**
   * The oldest file, of which little is needed.
   *
   * @param places of what is needed
   * @param mostBytes that may be carried
   */
  record Sparse(ClosedFile file, long[] places, long mostBytes) {
    Path path() {
      return file.path;
    }
  }

  /**
   * The oldest file, when it would be deleted if nothing needed it, and little is needed of it, or
   * of it and those after it that would then go as well. Null when there is none.
   *
   * @param places of all that is needed, the lowest first
   * @param carriedBelow what is needed from there on cannot be carried
   */
  private @Nullable Sparse sparse(long[] places, long carriedBelow, long position) {
    boolean tooMany = isTooMany(position);
    double live = 0;
    long all = 0;
    int at = 0;
    for (ClosedFile file : files) {
      if (file.lastSequence >= carriedBelow || !(tooMany || isOld(file))) {
        return null;
      }
      int from = at;
      while (at < places.length && places[at] <= file.lastSequence) {
        at++;
      }
      live += (at - from) * file.bytesPerRecord;
      all += file.bytes;
      if (live <= (double) all / CARRIED_SHARE) {
        ClosedFile oldest = files.element();
        return new Sparse(
            oldest,
            LongStream.of(places).takeWhile(place -> place <= oldest.lastSequence).toArray(),
            all / CARRIED_SHARE);
      }
    }
    return null;
  }

  /** What is needed of the oldest file; null when it cannot be read, or nothing of it is needed. */
  @Nullable NeededRecords read(Sparse oldest) {
    if (oldest.places.length == 0) {
      return null; // it could not be deleted, and will be tried again
    }
    Path path = oldest.file.path;
    NeededRecords needed = new NeededRecords(oldest.places, oldest.mostBytes);
    // Nobody else deletes it: it is needed.
    try (FileScan scan = new FileScan(path, FileScan.WINDOW_BYTES)) {
      scan.run(tag, needed, false, false);
    } catch (IOException e) {
      LOG.warn("cannot read {}: {}", path, e.toString());
      return null;
    }
    if (!needed.isWhole()) {
      LOG.error(
          "{} is kept: it is damaged, and holds records that wait for MySQL; see 'gameq-recovery"
              + " inspect'",
          path);
    }
    return needed;
  }

  /** Whether records are to be carried; when not, their file is not sparse any more. */
  boolean mayCarry(Sparse oldest, NeededRecords needed) {
    if (needed.isWhole() && needed.bytes <= oldest.mostBytes) {
      return true;
    }
    oldest.file.bytesPerRecord =
        needed.isWhole() ? (double) needed.bytes / oldest.places.length : Double.MAX_VALUE;
    return false;
  }

  /** Takes note of where a record stands from now on. */
  void carried(long sequence, long place) {
    carried.put(sequence, place);
  }

  /**
   * The needed records of a file; more than may be carried is measured, not kept. The count tells
   * whether damage hides one.
   */
  static final class NeededRecords implements FileScan.Found {
    private final long[] places;
    private final long mostBytes;

    /** The bodies, by the sequences that name the records: in the order of the commits. */
    final SortedMap<Long, byte[]> records = new TreeMap<>();

    private long bytes;
    private long count;

    NeededRecords(long[] places, long mostBytes) {
      this.places = places;
      this.mostBytes = mostBytes;
    }

    /** Each was found once: else damage hides one, and the file may be all there is of it. */
    private boolean isWhole() {
      return count == places.length;
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
        Decoder body = new Decoder(buffer, at + Envelope.BYTES, at + length);
        records.put(body.skipCarried(place), body.rest());
      } else {
        records.clear();
      }
    }
  }

  // --- for readers

  /** See {@link WalWriter#place}. */
  long place(long sequence) {
    return sequence < first && !carried.containsKey(sequence) ? 0 : standsAt(sequence);
  }

  /** Files are held as often as this was given 1, less -1. */
  void hold(int more) {
    holds += more;
  }
}
