package io.gameq.wal;

import io.gameq.WalException;
import io.gameq.WalFullException;
import io.gameq.WalLimits;
import io.gameq.WalSync;
import io.gameq.change.Commit;
import io.gameq.change.CommitPart;
import java.io.Closeable;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import net.openhft.chronicle.queue.ChronicleQueue;
import net.openhft.chronicle.queue.ExcerptAppender;
import net.openhft.chronicle.queue.impl.single.SingleChronicleQueueBuilder;
import net.openhft.chronicle.wire.DocumentContext;

/**
 * Appends to the WAL of this process. Thread-safe, one record at a time; meant for the sender's
 * thread.
 *
 * <p>What append returned for is in the page cache: it survives a kill of the process. What {@link
 * #sync} returned for survives a power loss of the host, with {@link WalSync#GROUP}.
 */
public final class WalWriter implements AutoCloseable {
  static final int BLOCK_BYTES = 64 << 20;

  /** A quarter of the block is what Chronicle Queue takes. */
  static final int MOST_RECORD_BYTES = BLOCK_BYTES / 4 - 1024;

  /** What Chronicle Queue and the first records take of a new file, at least. */
  private static final long FILE_START_BYTES = 256 << 10;

  private static final DateTimeFormatter START =
      DateTimeFormatter.ofPattern("yyyyMMdd'T'HHmmss'Z'").withZone(ZoneOffset.UTC);

  private final String id;
  private final int tag;
  private final Path directory;
  private final WalLimits limits;
  private final List<WalCodec.Body> preamble;
  private final Set<WalRecord.Layout> layouts;
  private final RoomGuard guard;
  private final ClosedFiles closedFiles;
  private final Retention retention;
  private final BodyWriter record = new BodyWriter();
  private final long startMillis;
  private final long startNanos = System.nanoTime();
  private final Closeable live;
  private final ChronicleQueue queue;
  private final ExcerptAppender appender;

  private volatile long clockMillis; // Chronicle Queue's: moves only when a file is to begin
  private CurrentFile file;
  private long fileBeganNanos;
  private long position; // in the file, behind the last record
  private boolean hasCommits; // the file holds more than its preamble
  private boolean unsynced;
  private long sequence;
  private boolean broken;
  private boolean closed;
  private boolean complete;

  /**
   * Where and for whom a WAL begins.
   *
   * @param parent the directory that holds one directory per process start
   * @param process 8 hex digits that name this process
   */
  public record Start(
      Path parent, String namespace, int slots, String node, String process, long nowMillis) {
    String walId() {
      return node + "-" + START.format(Instant.ofEpochMilli(nowMillis)) + "-" + process;
    }
  }

  /**
   * Creates a fresh WAL directory and writes its header and layouts. Removes WALs beside it that
   * are complete and that {@code limits} no longer keep.
   *
   * @throws WalException when JVM flags are missing or the directory cannot be made
   * @throws WalFullException when its file system has no room
   */
  public static WalWriter create(Start start, WalLimits limits, List<WalRecord.Layout> layouts) {
    return create(start, limits, layouts, 1);
  }

  /** With another first sequence: what a WAL looks like of which all before it was deleted. */
  static WalWriter create(
      Start start, WalLimits limits, List<WalRecord.Layout> layouts, long firstSequence) {
    JvmFlags.check();
    ChronicleSettings.quiet();
    Path directory = start.parent().resolve(start.walId());
    try {
      Files.createDirectories(start.parent());
      CompleteWals.removeExpired(start.parent(), limits);
      new RoomGuard(start.parent(), limits).requireFree(FILE_START_BYTES, false);
      Permissions.createDirectory(directory);
      if (firstSequence > 1) {
        WalMarkers.writeTrimmed(directory, firstSequence);
      }
      return new WalWriter(start, directory, limits, layouts, firstSequence);
    } catch (IOException e) {
      throw new WalException(
          "cannot create the WAL directory "
              + directory
              + " ("
              + e
              + "): give a directory that this user may write",
          e);
    }
  }

  private WalWriter(
      Start start,
      Path directory,
      WalLimits limits,
      List<WalRecord.Layout> layouts,
      long firstSequence)
      throws IOException {
    this.sequence = firstSequence - 1;
    this.id = start.walId();
    this.tag = Envelope.tag(id);
    this.directory = directory;
    this.limits = limits;
    this.guard = new RoomGuard(directory, limits);
    this.closedFiles = new ClosedFiles(directory, limits, firstSequence);
    this.retention = new Retention(this, closedFiles, firstSequence);
    this.startMillis = start.nowMillis();
    this.clockMillis = start.nowMillis();
    preamble = new ArrayList<>();
    preamble.add(
        WalCodec.header(
            new WalRecord.Header(
                WalCodec.FORMAT,
                id,
                start.namespace(),
                start.slots(),
                start.node(),
                start.nowMillis())));
    layouts.forEach(layout -> preamble.add(WalCodec.layout(layout)));
    this.layouts = new HashSet<>(layouts);
    live = LiveWals.hold(directory);
    queue =
        SingleChronicleQueueBuilder.binary(directory)
            .rollCycle(WalRollCycle.INSTANCE)
            .timeProvider(() -> clockMillis)
            .blockSize(BLOCK_BYTES)
            .build();
    appender = queue.createAppender();
    appender.singleThreadedCheckDisabled(true); // one at a time, by this object's lock
    file =
        CurrentFile.create(path(), FILE_START_BYTES); // the appender takes only whole ones it finds
    fileBeganNanos = System.nanoTime();
    writePreamble();
    Permissions.ownerOnly(directory.resolve("metadata.cq4t"));
    if (isSyncing()) {
      sync();
      CurrentFile.syncDirectory(directory);
      CurrentFile.syncDirectory(start.parent());
    }
  }

  /** The name of this WAL: the field of its journal marks. */
  public String id() {
    return id;
  }

  public Path directory() {
    return directory;
  }

  // --- append

  /**
   * Appends a commit and gives it its sequence.
   *
   * @throws WalFullException when there is no room; nothing was written, and appending goes on by
   *     itself once there is
   * @throws WalException when it cannot be written
   */
  public synchronized void append(Commit commit) {
    commit.setSequence(append(WalCodec.commit(commit.parts()), false));
  }

  /**
   * Notes that a commit failed, before the game is told, so that nothing ever replays it. Has a
   * reserve of room.
   */
  public synchronized void appendFailed(Commit commit) {
    append(WalCodec.failed(commit.sequence()), true);
  }

  /** Notes rows that a session took over; returns the record's sequence. Has a reserve of room. */
  public synchronized long appendAdopted(CommitPart part) {
    return append(WalCodec.adopted(part), true);
  }

  /**
   * Notes column lists, before rows that name them are appended; those that are there are left out.
   *
   * @throws WalFullException when there is no room
   */
  public synchronized void appendLayouts(List<WalRecord.Layout> layouts) {
    for (WalRecord.Layout layout : layouts) {
      if (!this.layouts.contains(layout)) {
        WalCodec.Body body = WalCodec.layout(layout);
        append(body, true);
        preamble.add(body);
        this.layouts.add(layout);
      }
    }
  }

  /** The sequence of the newest record. */
  public synchronized long newestSequence() {
    return sequence;
  }

  private long append(WalCodec.Body body, boolean reserve) {
    requireUsable();
    body.write(record);
    if (record.length() > MOST_RECORD_BYTES) {
      throw new WalException(
          "a WAL record of %d bytes, the limit is %d"
              .formatted(record.length(), MOST_RECORD_BYTES));
    }
    guard.requireFree(record.length(), reserve);
    requireBelowLimit(record.length(), reserve);
    if (hasCommits
        && (position + record.length() > limits.fileBytes()
            || System.nanoTime() - fileBeganNanos > limits.fileAge().toNanos())) {
      beginFile(record.length());
      body.write(record); // the preamble was written with it
    }
    reserve(position + record.length());
    write();
    hasCommits = true;
    return sequence;
  }

  private void requireUsable() {
    if (broken || closed) {
      throw new WalException(
          closed
              ? "the WAL in " + directory + " is closed"
              : "the WAL in "
                  + directory
                  + " could not be written before: restart this node, and keep the directory");
    }
  }

  private void requireBelowLimit(int bytes, boolean reserve) {
    if (guard.isOverLimit(bytes() + bytes, reserve)) {
      retention.deleteUnneeded();
      if (guard.isOverLimit(bytes() + bytes, reserve)) {
        throw new WalFullException(
            ("the WAL in %s has %d MiB, walMaxBytes is %d MiB, and all of it is needed"
                    + " until it is in MySQL: let the writers drain, or raise walMaxBytes")
                .formatted(directory, bytes() >> 20, limits.maxBytes() >> 20));
      }
    }
  }

  private long bytes() {
    return closedFiles.bytes() + position;
  }

  private void reserve(long to) {
    try {
      file.reserve(to);
    } catch (IOException e) {
      throw full(e);
    }
  }

  private WalFullException full(IOException e) {
    return new WalFullException(
        "the WAL in %s cannot grow (%s): make room on its file system, commits are then taken again"
            .formatted(directory, e));
  }

  private void write() {
    Envelope.seal(record.bytes(), record.length(), tag, sequence + 1);
    try (DocumentContext document = appender.writingDocument()) {
      var bytes = Objects.requireNonNull(document.wire()).bytes();
      try {
        position = bytes.writePosition();
        bytes.write(record.bytes(), 0, record.length());
        position += record.length();
      } catch (RuntimeException | InternalError e) {
        document.rollbackOnClose(); // else half a record stays
        throw e;
      }
    } catch (RuntimeException | InternalError e) { // memory that cannot be written: InternalError
      broken = true; // nobody knows what is behind the last whole record now
      throw new WalException(
          "cannot append %d bytes to the WAL in %s (%s)".formatted(record.length(), directory, e),
          e,
          true);
    }
    unsynced = true;
    sequence++;
  }

  // --- files

  private Path path() {
    return directory.resolve(WalRollCycle.fileName(clockMillis));
  }

  /** Each file can be read without the others: it begins with the header and the layouts. */
  private void writePreamble() {
    for (WalCodec.Body body : preamble) {
      body.write(record);
      reserve(position + record.length());
      write();
    }
    hasCommits = false;
  }

  private void beginFile(int bytes) {
    sync();
    long before = clockMillis;
    clockMillis =
        Math.max(
            before + WalRollCycle.MILLIS,
            startMillis + (System.nanoTime() - startNanos) / 1_000_000);
    CurrentFile next;
    try {
      next = CurrentFile.create(path(), FILE_START_BYTES + bytes);
      if (isSyncing()) {
        CurrentFile.syncDirectory(directory);
      }
    } catch (IOException e) {
      clockMillis = before;
      throw full(e);
    }
    closedFiles.add(WalRollCycle.fileName(before), sequence, position);
    closeQuietly(file);
    file = next;
    fileBeganNanos = System.nanoTime();
    position = 0;
    writePreamble();
  }

  private static void closeQuietly(Closeable closeable) {
    try {
      closeable.close();
    } catch (IOException e) {
      // nothing is written through it any more
    }
  }

  /**
   * Deletes files that nothing needs any more, and carries forward what little is needed of old
   * ones: see {@link Retention}. For one thread at a time; others go on appending meanwhile.
   *
   * @throws WalFullException when there is no room for what is to be carried: then it stays
   * @throws WalException when it cannot be written
   */
  public void retain(WalNeeds needs) {
    retention.retain(needs);
  }

  /** Writes a record again; returns its new place. Has a reserve of room. */
  synchronized long appendCarried(LiveRecords.Live record) {
    return append(WalCodec.carried(record.sequence(), record.body()), true);
  }

  /** Bytes of the newest file; -1 when nothing can be written any more. */
  synchronized long position() {
    return closed || broken ? -1 : position;
  }

  /**
   * Where a record is to be read now; 0 when it was deleted, since nothing needs it. Ask while the
   * files are {@linkplain #hold held}.
   */
  public long place(long sequence) {
    return retention.place(sequence);
  }

  /** Deletes no file until {@link #release}, for somebody who reads them. */
  public void hold() {
    retention.hold();
  }

  /** Ends a {@link #hold}. */
  public void release() {
    retention.release();
  }

  /** The first sequence of the file that is appended to: it is never deleted. */
  public synchronized long newestFileFrom() {
    return closedFiles.end();
  }

  // --- sync

  /** Whether {@link #sync()} does anything. */
  public boolean isSyncing() {
    return limits.sync() == WalSync.GROUP;
  }

  /**
   * Forces all that was appended to the disk; does nothing with {@link WalSync#OFF}.
   *
   * @throws WalException when the disk refuses; then nobody knows what it holds, and the WAL takes
   *     no further record
   */
  public synchronized void sync() {
    if (!isSyncing() || !unsynced) {
      return;
    }
    requireUsable();
    try {
      file.sync();
      unsynced = false;
    } catch (IOException e) {
      broken = true; // the system may have dropped what it failed to write
      throw new WalException(
          "cannot force the WAL in %s to the disk (%s): restart this node, and keep the directory"
              .formatted(directory, e),
          e);
    }
  }

  // --- end

  /**
   * Has {@link #close} mark the WAL as complete: for a node whose every commit is in MySQL. It is
   * deleted at once where {@link WalLimits#keep} is zero, else by a later start beside it.
   */
  public synchronized void complete() {
    complete = true;
  }

  @Override
  public synchronized void close() {
    if (closed) {
      return;
    }
    closed = true;
    appender.close();
    queue.close();
    closeQuietly(file);
    try {
      if (complete) {
        WalMarkers.writeComplete(directory, new WalMarkers.Complete(sequence, bytes()));
      }
    } catch (IOException e) {
      throw new WalException("cannot mark the WAL in " + directory + " as complete", e);
    } finally {
      closeQuietly(live);
    }
    if (complete && limits.keep().isZero()) {
      CompleteWals.remove(directory);
    }
  }
}
