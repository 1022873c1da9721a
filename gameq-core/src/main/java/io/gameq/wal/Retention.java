package io.gameq.wal;

import io.gameq.config.WalLimits;
import io.gameq.wal.WalCodec.Decoder;
import io.gameq.wal.WalCodec.Envelope;
import io.gameq.wal.WalWriter.WalNeeds;
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
 * <p>Used under the writer's lock but for {@link #retain}, which is for one thread at a time and
 * holds up the writer for one record at a time. Killed anywhere, each needed record stands in one
 * place or in two: nothing is deleted before its other place was {@linkplain WalWriter#sync
 * synced}.
 */
final class Retention {
  private static final Logger LOG = LoggerFactory.getLogger(Retention.class);

  /**
   * What is still needed is carried forward when it is at most one in so many bytes of the oldest
   * files: so a carried row costs little, and what is left is never many times what is needed.
   */
  private static final int CARRIED_SHARE = 4;

  private final WalWriter writer;
  private final WalLimits limits;
  private final Deque<ClosedFile> files = new ArrayDeque<>(); // oldest first
  private final Map<Long, Long> carried = new HashMap<>(); // where records stand now, if elsewhere
  private long bytes;
  private long first; // sequence that was not deleted
  private long neededFrom;
  private long messagesFrom = Long.MAX_VALUE;
  private boolean isCarriedUnsynced;
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

  Retention(WalWriter writer, WalLimits limits, long firstSequence) {
    this.writer = writer;
    this.limits = limits;
    this.first = firstSequence;
    this.neededFrom = firstSequence;
  }

  /** Takes note of a file that nothing is appended to any more. */
  void add(String name, long lastSequence, long bytesWritten) {
    Path path = writer.directory().resolve(name);
    files.add(new ClosedFile(path, end(), lastSequence, bytesWritten));
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

  /** See {@link WalWriter#retain}. */
  void retain(WalNeeds needs) {
    synchronized (writer) {
      carried.keySet().removeIf(of -> Arrays.binarySearch(needs.records(), of) < 0);
      messagesFrom = needs.messagesFrom();
    }
    while (true) {
      if (isCarriedUnsynced) {
        writer.sync();
        isCarriedUnsynced = false;
      }
      Sparse sparse;
      synchronized (writer) {
        long[] waiting = LongStream.of(needs.records()).map(this::standsAt).sorted().toArray();
        long place = waiting.length == 0 ? needs.from() : Math.min(waiting[0], needs.from());
        neededFrom = Math.max(neededFrom, place);
        deleteUnneeded();
        sparse = isIdle() ? sparse(waiting, needs.from()) : null;
      }
      if (sparse == null || !carry(sparse)) {
        return;
      }
    }
  }

  /** Where a record stands by now: most where they were written first. */
  private long standsAt(long sequence) {
    return carried.isEmpty() ? sequence : carried.getOrDefault(sequence, sequence);
  }

  /** Nobody reads, and something can still be written. */
  private boolean isIdle() {
    return holds == 0 && writer.position() >= 0;
  }

  /** Deletes the oldest files while nothing needs them. */
  void deleteUnneeded() {
    if (!isIdle()) {
      return;
    }
    for (ClosedFile oldest; (oldest = files.peek()) != null; ) {
      if (oldest.lastSequence >= neededFrom || !(isOld(oldest) || isTooMany())) {
        break;
      }
      long next = oldest.lastSequence + 1;
      try {
        // Before the file goes: else it is missed.
        WalDirectory.write(writer.directory(), WalDirectory.TRIMMED_FILE, next);
        Files.deleteIfExists(oldest.path);
      } catch (IOException e) {
        LOG.warn("cannot delete {} from the WAL: {}", oldest.path, e.toString());
        break;
      }
      files.remove();
      bytes -= oldest.bytes;
      first = next;
    }
    writer.noteBytes();
  }

  private boolean isOld(ClosedFile file) {
    return file.lastSequence < messagesFrom
        && System.nanoTime() - file.closedNanos > limits.keep().toNanos();
  }

  private boolean isTooMany() {
    return bytes + writer.position() > limits.maxBytes() - limits.fileBytes();
  }

  // --- carrying records forward

  /**
   * The oldest file, of which little is needed.
   *
   * @param places of what is needed
   * @param mostBytes that may be carried
   */
  private record Sparse(ClosedFile file, long[] places, long mostBytes) {}

  /**
   * The oldest file, when it would be deleted if nothing needed it, and little is needed of it, or
   * of it and those after it that would then go as well. Null when there is none.
   *
   * @param places of all that is needed, the lowest first
   * @param carriedBelow what is needed from there on cannot be carried
   */
  private @Nullable Sparse sparse(long[] places, long carriedBelow) {
    boolean tooMany = isTooMany();
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

  /** Writes what is needed of the oldest file again; false when that does not help. */
  private boolean carry(Sparse oldest) {
    if (oldest.places.length == 0) {
      return false; // it could not be deleted, and will be tried again
    }
    Path path = oldest.file.path;
    NeededRecords needed = new NeededRecords(oldest.places, oldest.mostBytes);
    // Nobody else deletes it: it is needed.
    try (FileScan scan = new FileScan(path, FileScan.WINDOW_BYTES)) {
      scan.run(Envelope.tag(writer.id()), needed, false, false);
    } catch (IOException e) {
      LOG.warn("cannot read {}: {}", path, e.toString());
      return false;
    }
    // Each was found once: else damage hides one, and the file may be all there is of it.
    boolean isWhole = needed.count == oldest.places.length;
    if (!isWhole) {
      LOG.error(
          "{} is kept: it is damaged, and holds records that wait for MySQL; see 'gameq-recovery"
              + " inspect'",
          path);
    }
    if (!isWhole || needed.bytes > oldest.mostBytes) {
      synchronized (writer) {
        oldest.file.bytesPerRecord =
            isWhole ? (double) needed.bytes / oldest.places.length : Double.MAX_VALUE;
      }
      return true; // it is not sparse any more
    }
    isCarriedUnsynced = true;
    needed.records.forEach(
        (sequence, body) -> {
          synchronized (writer) {
            carried.put(sequence, writer.appendCarried(sequence, body));
          }
        });
    LOG.info(
        "carried {} records forward, whose rows wait for MySQL, from {}",
        needed.records.size(),
        path);
    return true;
  }

  /**
   * The needed records of a file; more than may be carried is measured, not kept. The count tells
   * whether damage hides one.
   */
  private static final class NeededRecords implements FileScan.Found {
    private final long[] places;
    private final long mostBytes;

    /** The bodies, by the sequences that name the records: in the order of the commits. */
    private final SortedMap<Long, byte[]> records = new TreeMap<>();

    private long bytes;
    private long count;

    NeededRecords(long[] places, long mostBytes) {
      this.places = places;
      this.mostBytes = mostBytes;
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
