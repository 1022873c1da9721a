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
import java.util.List;
import java.util.Locale;

/**
 * Appends to the WAL of this process. Thread-safe, one record at a time; meant for the sender's
 * thread.
 *
 * <p>What append returned for is in the page cache: it survives a kill of the process. What {@link
 * #sync} returned for survives a power loss of the host, with {@link WalSync#GROUP}.
 */
public final class WalWriter implements AutoCloseable {
  private static final DateTimeFormatter START =
      DateTimeFormatter.ofPattern("yyyyMMdd'T'HHmmss'Z'", Locale.ROOT).withZone(ZoneOffset.UTC);

  private final String id;
  private final int tag;
  private final Path directory;
  private final WalLimits limits;
  private final Preamble preamble;
  private final RoomGuard guard;
  private final AppendedFiles files;
  private final ClosedFiles closedFiles;
  private final Retention retention;
  private final BodyWriter record = new BodyWriter();
  private final Closeable live;

  private boolean hasCommits; // the file holds more than its preamble
  private long sequence;
  private long syncedSequence;
  private long notedSequence; // in the file beside the records; of the thread that retains
  private volatile long bytesNow;
  private boolean complete;
  private long messagesUntilMillis;

  /**
   * Where and for whom a WAL begins.
   *
   * @param parent the directory that holds one directory per process start
   * @param database which one it is, by {@code gameq_setting}
   * @param process 8 hex digits that name this process
   */
  public record Start(
      Path parent,
      String namespace,
      int slots,
      String database,
      String node,
      String process,
      long nowMillis) {
    String walId() {
      return node + "-" + START.format(Instant.ofEpochMilli(nowMillis)) + "-" + process;
    }

    private Path directory() {
      return parent.resolve(walId());
    }

    private WalRecord.Header header() {
      return new WalRecord.Header(
          WalCodec.FORMAT, walId(), namespace, slots, node, nowMillis, database);
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
    Path directory = start.directory();
    try {
      Files.createDirectories(start.parent());
      CompleteWals.removeExpired(start.parent(), limits);
      new RoomGuard(start.parent(), limits).requireFree(AppendedFiles.START_BYTES, false);
      Permissions.createDirectory(directory);
      if (firstSequence > 1) {
        WalMarkers.writeTrimmed(directory, firstSequence);
      }
      return new WalWriter(start, limits, layouts, firstSequence);
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
      Start start, WalLimits limits, List<WalRecord.Layout> layouts, long firstSequence)
      throws IOException {
    this.sequence = firstSequence - 1;
    this.id = start.walId();
    this.tag = Envelope.tag(id);
    this.directory = start.directory();
    this.limits = limits;
    this.guard = new RoomGuard(directory, limits);
    this.closedFiles = new ClosedFiles(directory, limits, firstSequence);
    this.retention = new Retention(this, closedFiles, firstSequence);
    this.preamble = new Preamble(start.header(), layouts);
    live = LiveWals.hold(directory);
    files = new AppendedFiles(directory, start.nowMillis(), isSyncing());
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
    commit.setSequence(append(WalCodec.commit(commit), false));
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
      if (!preamble.has(layout)) {
        append(WalCodec.layout(layout), true);
        preamble.add(layout);
      }
    }
  }

  /** The sequence of the newest record. */
  public synchronized long newestSequence() {
    return sequence;
  }

  private long append(WalCodec.Body body, boolean reserve) {
    files.requireUsable();
    body.write(record);
    requireRoom(reserve);
    if (isFileDue()) {
      beginFile(record.length());
      body.write(record); // the preamble was written with it
    }
    write();
    hasCommits = true;
    return sequence;
  }

  private void requireRoom(boolean reserve) {
    if (record.length() > AppendedFiles.MOST_RECORD_BYTES) {
      throw new WalException(
          "a WAL record of %s bytes, the limit is %s"
              .formatted(record.length(), AppendedFiles.MOST_RECORD_BYTES));
    }
    guard.requireFree(record.length(), reserve);
    requireBelowLimit(record.length(), reserve);
  }

  private void requireBelowLimit(int bytes, boolean reserve) {
    if (guard.isOverLimit(bytes() + bytes, reserve)) {
      retention.deleteUnneeded();
      if (guard.isOverLimit(bytes() + bytes, reserve)) {
        throw new WalFullException(
            ("the WAL in %s has %s MiB, walMaxBytes is %s MiB, and all of it is needed"
                    + " until it is in MySQL: let the writers drain, or raise walMaxBytes")
                .formatted(directory, bytes() >> 20, limits.maxBytes() >> 20));
      }
    }
  }

  private long bytes() {
    return closedFiles.bytes() + files.position();
  }

  /** How large it is, as far as was seen last; asks nothing, and waits for nobody. */
  public long bytesNow() {
    return bytesNow;
  }

  /** After files were deleted, too. */
  synchronized void noteBytes() {
    bytesNow = bytes();
  }

  private boolean isFileDue() {
    return hasCommits
        && (files.position() + record.length() > limits.fileBytes()
            || files.ageNanos() > limits.fileAge().toNanos());
  }

  private void beginFile(int bytes) {
    String closedFile = files.name();
    long closedBytes = files.position();
    files.beginNext(bytes);
    closedFiles.add(closedFile, sequence, closedBytes);
    writePreamble();
  }

  private void writePreamble() {
    for (WalCodec.Body body : preamble.bodies()) {
      body.write(record);
      write();
    }
    hasCommits = false;
  }

  private void write() {
    files.reserve(record.length());
    Envelope.seal(record.bytes(), record.length(), tag, sequence + 1);
    files.write(record.bytes(), record.length());
    sequence++;
    noteBytes();
  }

  // --- retention

  /**
   * Deletes files that nothing needs any more, and carries forward what little is needed of old
   * ones: see {@link Retention}. For one thread at a time; others go on appending meanwhile.
   *
   * @throws WalFullException when there is no room for what is to be carried: then it stays
   * @throws WalException when it cannot be written
   */
  public void retain(WalNeeds needs) {
    noteNewest();
    retention.retain(needs);
  }

  /** A file that is cut where a record ends, or zeros from there on, does not tell it by itself. */
  private void noteNewest() {
    long newest;
    synchronized (this) {
      newest = isSyncing() ? syncedSequence : sequence; // no more than a power loss leaves
    }
    if (newest == notedSequence) {
      return;
    }
    try {
      WalMarkers.writeNewest(directory, newest);
      notedSequence = newest;
    } catch (IOException e) {
      throw new WalException("cannot note how far the WAL in " + directory + " goes", e);
    }
  }

  /** Writes a record again; returns its new place. Has a reserve of room. */
  synchronized long appendCarried(LiveRecords.Live record) {
    return append(WalCodec.carried(record.sequence(), record.body()), true);
  }

  /** Bytes of the newest file; -1 when nothing can be written any more. */
  synchronized long position() {
    return files.isUsable() ? files.position() : -1;
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
    files.sync();
    syncedSequence = sequence;
  }

  // --- end

  /**
   * Has {@link #close} mark the WAL as complete: for a node whose every commit is in MySQL. It is
   * deleted at once where {@link WalLimits#keep} is zero, else by a later start beside it.
   */
  public synchronized void complete() {
    complete(0);
  }

  /** The same, with messages that Redis may yet lose until then, Unix ms: not deleted before. */
  public synchronized void complete(long untilMillis) {
    complete = true;
    messagesUntilMillis = untilMillis;
  }

  @Override
  public synchronized void close() {
    if (files.isClosed()) {
      return;
    }
    files.close();
    try {
      if (complete && messagesUntilMillis > 0) {
        WalMarkers.writeMessages(directory, messagesUntilMillis);
      }
      if (complete) {
        WalMarkers.writeComplete(directory, new WalMarkers.Complete(sequence, bytes()));
      }
    } catch (IOException e) {
      throw new WalException("cannot mark the WAL in " + directory + " as complete", e);
    } finally {
      AppendedFiles.closeQuietly(live);
    }
    if (complete && limits.keep().isZero() && messagesUntilMillis == 0) {
      CompleteWals.remove(directory);
    }
  }
}
