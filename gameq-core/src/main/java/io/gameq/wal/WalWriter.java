package io.gameq.wal;

import io.gameq.WalException;
import io.gameq.WalFullException;
import io.gameq.change.Commit;
import io.gameq.change.Commit.CommitPart;
import io.gameq.config.WalLimits;
import io.gameq.config.WalSync;
import io.gameq.wal.Retention.NeededRecords;
import io.gameq.wal.Retention.Sparse;
import io.gameq.wal.WalCodec.Encoder;
import io.gameq.wal.WalCodec.Envelope;
import java.io.Closeable;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import net.openhft.chronicle.queue.ChronicleQueue;
import net.openhft.chronicle.queue.ExcerptAppender;
import net.openhft.chronicle.queue.impl.single.SingleChronicleQueueBuilder;
import net.openhft.chronicle.wire.DocumentContext;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Appends to the WAL of this process, to one file after another, through Chronicle Queue.
 * Thread-safe, one record at a time; meant for the sender's thread.
 *
 * <p>What append returned for is in the page cache: it survives a kill of the process. What {@link
 * #sync} returned for survives a power loss of the host, with {@link WalSync#GROUP}. Where either
 * failed, nobody knows what the file holds, and nothing more is written.
 *
 * <p>Chronicle Queue writes through mapped memory: a disk that fills up under it is a SIGBUS in the
 * middle of a record. So zeros are written ahead, which fails as an ordinary error before a record
 * begins.
 */
public final class WalWriter implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(WalWriter.class);

  /** What Chronicle Queue and the first records take of a new file, at least. */
  private static final long START_BYTES = 256 << 10;

  /** Chronicle Queue's index pages (32 KiB each) come between records. */
  private static final long MARGIN_BYTES = 128 << 10;

  private static final long AHEAD_BYTES = 1 << 20;
  private static final byte[] ZEROS = new byte[64 << 10];

  private static final DateTimeFormatter START =
      DateTimeFormatter.ofPattern("yyyyMMdd'T'HHmmss'Z'", Locale.ROOT).withZone(ZoneOffset.UTC);

  private final String id;
  private final int tag;
  private final Path directory;
  private final WalLimits limits;
  private final WalRecord.Header header;
  private final Set<WalRecord.Layout> layouts;
  private final RoomGuard guard;
  private final Retention retention;
  private final Encoder record = new Encoder();
  private final Encoder preamble = new Encoder();
  private final Closeable lock;
  private final ChronicleQueue queue;
  private final ExcerptAppender appender;
  private final long startNanos = System.nanoTime();

  private volatile long clockMillis; // Chronicle Queue's: moves only when a file is to begin
  private RandomAccessFile file;
  private long reserved; // bytes that the file takes on the disk
  private long fileBeganNanos;
  private long position; // in the file, behind the last record
  private boolean hasCommits; // the file holds more than its preamble
  private boolean unsynced;
  private boolean broken;
  private boolean closed;
  private long sequence;
  private long syncedSequence;
  private boolean isCarriedUnsynced; // of the thread that retains
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
  }

  /**
   * Creates a fresh WAL directory and writes its header and layouts. Removes WALs beside it that
   * are complete and that {@code limits} no longer keep.
   *
   * @throws WalException when this JVM is not fit or the directory cannot be made
   * @throws WalFullException when its file system has no room
   */
  public static WalWriter create(Start start, WalLimits limits, List<WalRecord.Layout> layouts) {
    return create(start, limits, layouts, 1);
  }

  /** With another first sequence: what a WAL looks like of which all before it was deleted. */
  static WalWriter create(
      Start start, WalLimits limits, List<WalRecord.Layout> layouts, long firstSequence) {
    JvmFlags.require();
    // Chronicle Queue's banner, disk monitor and usage analytics.
    System.setProperty("chronicle.announcer.disable", "true");
    System.setProperty("chronicle.disk.monitor.disable", "true");
    System.setProperty("chronicle.analytics.disable", "true");
    Path directory = start.parent().resolve(start.walId());
    try {
      Files.createDirectories(start.parent());
      WalDirectory.removeExpired(start.parent(), limits);
      new RoomGuard(start.parent(), limits).requireFree(START_BYTES, false);
      Files.createDirectory(directory, WalDirectory.permissions(directory, "rwx------"));
      WalDirectory.lacking(directory, limits.sync(), System.getProperty("os.name"))
          .forEach(LOG::warn);
      if (firstSequence > 1) {
        WalDirectory.write(directory, WalDirectory.TRIMMED_FILE, firstSequence);
      }
      return new WalWriter(start, directory, limits, layouts, firstSequence);
    } catch (IOException e) {
      throw new WalException(
          "cannot create the WAL directory %s (%s): give a directory that this user may write"
              .formatted(directory, e),
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
    this.retention = new Retention(directory, tag, limits, firstSequence);
    this.layouts = new LinkedHashSet<>(layouts);
    this.header =
        new WalRecord.Header(
            WalCodec.FORMAT,
            id,
            start.namespace(),
            start.slots(),
            start.node(),
            start.nowMillis(),
            start.database());
    lock = WalDirectory.lock(directory);
    clockMillis = start.nowMillis();
    queue =
        SingleChronicleQueueBuilder.binary(directory)
            .rollCycle(WalRollCycle.INSTANCE)
            .timeProvider(() -> clockMillis)
            .blockSize(WalCodec.BLOCK_BYTES)
            .build();
    appender = queue.createAppender();
    appender.singleThreadedCheckDisabled(true); // one at a time, by this object's lock
    // The appender takes only whole files that it finds.
    file = createFile(START_BYTES);
    fileBeganNanos = System.nanoTime();
    writePreamble();
    WalDirectory.restrict(directory.resolve(WalDirectory.METADATA_FILE));
    if (isSyncing()) {
      sync();
      WalDirectory.sync(directory);
      WalDirectory.sync(start.parent());
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
    record.commit(commit);
    commit.setSequence(append(false));
  }

  /**
   * Notes that a commit failed, before the game is told, so that nothing ever replays it. Has a
   * reserve of room.
   */
  public synchronized void appendFailed(Commit commit) {
    record.failed(commit.sequence());
    append(true);
  }

  /** Notes rows that a session took over; returns the record's sequence. Has a reserve of room. */
  public synchronized long appendAdopted(CommitPart part) {
    record.adopted(part);
    return append(true);
  }

  /**
   * Notes column lists, before rows that name them are appended; those that are there are left out.
   *
   * @throws WalFullException when there is no room
   */
  public synchronized void appendLayouts(List<WalRecord.Layout> more) {
    for (WalRecord.Layout layout : more) {
      if (!layouts.contains(layout)) {
        record.layout(layout);
        append(true);
        layouts.add(layout);
      }
    }
  }

  /** The sequence of the newest record. */
  public synchronized long newestSequence() {
    return sequence;
  }

  private long append(boolean reserve) {
    requireUsable();
    requireRoom(record.length(), reserve);
    boolean isFileDue =
        hasCommits
            && (position + record.length() > limits.fileBytes()
                || System.nanoTime() - fileBeganNanos > limits.fileAge().toNanos());
    if (isFileDue) {
      beginNextFile(record.length());
    }
    write(record);
    hasCommits = true;
    return sequence;
  }

  private void requireUsable() {
    if (broken || closed) {
      throw new WalException(
          closed
              ? "the WAL in " + directory + " is closed"
              : ("the WAL in %s could not be written before: restart this node, and keep the"
                      + " directory")
                  .formatted(directory));
    }
  }

  private void requireRoom(int bytes, boolean reserve) {
    if (bytes > WalCodec.MOST_RECORD_BYTES) {
      throw new WalException(
          "a WAL record of %s bytes, the limit is %s".formatted(bytes, WalCodec.MOST_RECORD_BYTES));
    }
    guard.requireFree(bytes, reserve);
    if (guard.isOverLimit(bytes() + bytes, reserve)) {
      retention.deleteUnneeded(position());
      noteBytes();
      if (guard.isOverLimit(bytes() + bytes, reserve)) {
        throw new WalFullException(
            ("the WAL in %s has %s MiB, walMaxBytes is %s MiB, and all of it is needed"
                    + " until it is in MySQL: let the writers drain, or raise walMaxBytes")
                .formatted(directory, bytes() >> 20, limits.maxBytes() >> 20));
      }
    }
  }

  private long bytes() {
    return retention.bytes() + position;
  }

  /** How large it is, as far as was seen last; asks nothing, and waits for nobody. */
  public long bytesNow() {
    return bytesNow;
  }

  /** After files were deleted, too. */
  private void noteBytes() {
    bytesNow = bytes();
  }

  /** What each file begins with, so that it can be read without the others. */
  private void writePreamble() {
    preamble.header(header);
    write(preamble);
    for (WalRecord.Layout layout : layouts) {
      preamble.layout(layout);
      write(preamble);
    }
    hasCommits = false;
  }

  /** Throws WalFullException when there is no room; nothing was written then. */
  private void write(Encoder of) {
    try {
      reserved = extend(file, reserved, position + of.length());
    } catch (IOException e) {
      throw full(e);
    }
    of.seal(tag, sequence + 1);
    try (DocumentContext document = appender.writingDocument()) {
      var bytes = Objects.requireNonNull(document.wire()).bytes();
      try {
        position = bytes.writePosition();
        bytes.write(of.bytes(), 0, of.length());
        position += of.length();
      } catch (RuntimeException | InternalError e) {
        document.rollbackOnClose(); // else half a record stays
        throw e;
      }
    } catch (RuntimeException | InternalError e) { // memory that cannot be written: InternalError
      broken = true; // nobody knows what is behind the last whole record now
      throw new WalException(
          "cannot append %s bytes to the WAL in %s (%s)".formatted(of.length(), directory, e),
          e,
          true);
    }
    unsynced = true;
    sequence++;
    noteBytes();
  }

  // --- files

  /**
   * Creates the file that the clock names with room for {@code bytes}, or leaves nothing behind.
   * Chronicle Queue takes a file of zeros for a new one.
   */
  private RandomAccessFile createFile(long bytes) throws IOException {
    String name = WalRollCycle.fileName(clockMillis);
    Path prepared = directory.resolve(name + WalDirectory.PREPARED_SUFFIX);
    Path named = directory.resolve(name);
    Files.deleteIfExists(prepared);
    WalDirectory.createFile(prepared);
    try {
      long end;
      try (RandomAccessFile zeros = new RandomAccessFile(prepared.toFile(), "rw")) {
        end = extend(zeros, 0, bytes);
      }
      Files.move(prepared, named, StandardCopyOption.ATOMIC_MOVE); // Windows: of no open file
      RandomAccessFile created = new RandomAccessFile(named.toFile(), "rw");
      reserved = end;
      return created;
    } catch (IOException | RuntimeException e) {
      Files.deleteIfExists(prepared);
      Files.deleteIfExists(named);
      throw e;
    }
  }

  /**
   * Makes sure that all up to {@code position} can be written, with what Chronicle Queue adds.
   *
   * @param from where the zeros end: beyond all that was appended
   * @return where they end now
   */
  private static long extend(RandomAccessFile file, long from, long position) throws IOException {
    if (position + MARGIN_BYTES <= from) {
      return from;
    }
    long to = position + MARGIN_BYTES + AHEAD_BYTES;
    file.seek(from);
    long end = from;
    while (end < to) {
      int bytes = (int) Math.min(ZEROS.length, to - end);
      file.write(ZEROS, 0, bytes);
      end += bytes;
    }
    return end;
  }

  private WalFullException full(IOException e) {
    return new WalFullException(
        ("the WAL in %s cannot grow (%s): make room on its file system, commits are then taken"
                + " again")
            .formatted(directory, e));
  }

  /**
   * Syncs and closes the file that is appended to, and begins the next one, with room for a record
   * of so many bytes.
   *
   * @throws WalFullException when there is none; the file stays
   */
  private void beginNextFile(int bytes) {
    sync();
    long clockBefore = clockMillis;
    long reservedBefore = reserved;
    long now = header.startMillis() + (System.nanoTime() - startNanos) / 1_000_000;
    clockMillis = Math.max(clockBefore + WalRollCycle.MILLIS, now);
    RandomAccessFile next;
    try {
      next = createFile(START_BYTES + bytes);
      if (isSyncing()) {
        WalDirectory.sync(directory);
      }
    } catch (IOException e) {
      clockMillis = clockBefore;
      reserved = reservedBefore;
      throw full(e);
    }
    closeQuietly(file);
    retention.add(WalRollCycle.fileName(clockBefore), sequence, position);
    file = next;
    fileBeganNanos = System.nanoTime();
    position = 0;
    writePreamble();
  }

  /** Closes a file through which nothing is written any more. */
  private static void closeQuietly(Closeable file) {
    try {
      file.close();
    } catch (IOException e) {
      // what was written through it is there
    }
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
    Sparse sparse;
    do {
      if (isCarriedUnsynced) {
        sync();
        isCarriedUnsynced = false;
      }
      synchronized (this) {
        sparse = retention.trim(needs.records(), needs.from(), needs.messagesFrom(), position());
        noteBytes();
      }
    } while (sparse != null && carry(sparse));
  }

  /** Writes what is needed of the oldest file again; false when that does not help. */
  private boolean carry(Sparse oldest) {
    NeededRecords needed = retention.read(oldest);
    if (needed == null) {
      return false;
    }
    synchronized (this) {
      if (!retention.mayCarry(oldest, needed)) {
        return true;
      }
    }
    isCarriedUnsynced = true;
    needed.records.forEach(this::appendCarried);
    LOG.info(
        "carried {} records forward, whose rows wait for MySQL, from {}",
        needed.records.size(),
        oldest.path());
    return true;
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
      WalDirectory.write(directory, WalDirectory.NEWEST_FILE, newest);
      notedSequence = newest;
    } catch (IOException e) {
      throw new WalException("cannot note how far the WAL in " + directory + " goes", e);
    }
  }

  /** Writes a record again. Has a reserve of room. */
  private synchronized void appendCarried(long carried, byte[] body) {
    record.carried(carried, body);
    retention.carried(carried, append(true));
  }

  /** Bytes of the newest file; -1 when nothing can be written any more. */
  private long position() {
    return broken || closed ? -1 : position;
  }

  /**
   * Where a record is to be read now; 0 when it was deleted, since nothing needs it. Ask while the
   * files are {@linkplain #hold held}.
   */
  public synchronized long place(long sequence) {
    return retention.place(sequence);
  }

  /** Deletes no file until {@link #release}, for somebody who reads them. */
  public synchronized void hold() {
    retention.hold(1);
  }

  /** Ends a {@link #hold}. */
  public synchronized void release() {
    retention.hold(-1);
  }

  /** The first sequence of the file that is appended to: it is never deleted. */
  public synchronized long newestFileFrom() {
    return retention.end();
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
    if (isSyncing() && unsynced) {
      requireUsable();
      try {
        file.getFD().sync(); // what was written through mapped memory included
        unsynced = false;
      } catch (IOException e) {
        broken = true; // the system may have dropped what it failed to write
        throw new WalException(
            ("cannot force the WAL in %s to the disk (%s): restart this node, and keep the"
                    + " directory")
                .formatted(directory, e),
            e);
      }
    }
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
    if (closed) {
      return;
    }
    closed = true;
    appender.close();
    queue.close();
    closeQuietly(file);
    try {
      if (complete) {
        WalDirectory.complete(directory, sequence, bytes(), messagesUntilMillis);
      }
    } finally {
      closeQuietly(lock);
    }
    if (complete && limits.keep().isZero() && messagesUntilMillis == 0) {
      WalDirectory.remove(directory);
    }
  }

  /**
   * What of a WAL may still have to be replayed.
   *
   * @param from everything from this sequence on: it is on its way or in the newest file, and is
   *     not carried forward
   * @param records sequences of older records, each once, the lowest first: their rows wait for
   *     MySQL
   * @param messagesFrom everything from this sequence on stays while there is room, as if it were
   *     younger than {@link io.gameq.config.WalLimits#keep}: Redis may yet lose the messages of it
   */
  public record WalNeeds(long from, long[] records, long messagesFrom) {
    /** Without messages. */
    public WalNeeds(long from, long[] records) {
      this(from, records, Long.MAX_VALUE);
    }

    /** Only what comes from a sequence on. */
    public static WalNeeds from(long sequence) {
      return new WalNeeds(sequence, new long[0]);
    }
  }

  /**
   * Refuses records before the disk is full. The file system is asked every {@link #LOOK_BYTES} and
   * {@link #LOOK_NANOS}, and for every record while there is no room. Not thread-safe.
   */
  static final class RoomGuard {
    private static final long LOOK_BYTES = 8 << 20;
    private static final long LOOK_NANOS = TimeUnit.SECONDS.toNanos(1);

    /** Marks of failed commits and adopted rows may still use so much when commits are refused. */
    private static final long RESERVE_BYTES = 64 << 20;

    private final Path directory;
    private final WalLimits limits;
    private final LongSupplier usable;
    private long free = Long.MAX_VALUE;
    private long bytesSinceLook = LOOK_BYTES;
    private long lookedNanos;

    RoomGuard(Path directory, WalLimits limits) {
      this(directory, limits, () -> usable(directory));
    }

    /** With another way to ask for free bytes. */
    RoomGuard(Path directory, WalLimits limits, LongSupplier usable) {
      this.directory = directory;
      this.limits = limits;
      this.usable = usable;
    }

    /**
     * Takes note that {@code bytes} are to be appended.
     *
     * @param reserve whether the record may use the reserve
     * @throws WalFullException when the file system has no room for them
     */
    void requireFree(long bytes, boolean reserve) {
      long least =
          reserve
              ? Math.max(limits.minFreeBytes() / 2, limits.minFreeBytes() - RESERVE_BYTES)
              : limits.minFreeBytes();
      bytesSinceLook += bytes;
      long now = System.nanoTime();
      if (bytesSinceLook >= LOOK_BYTES || now - lookedNanos >= LOOK_NANOS || free - bytes < least) {
        free = usable.getAsLong();
        lookedNanos = now;
        bytesSinceLook = 0;
      }
      if (free < least) {
        throw new WalFullException(
            ("the file system of the WAL in %s has %s MiB free, walMinFreeBytes is %s MiB:"
                    + " make room there, commits are then taken again")
                .formatted(directory, free >> 20, limits.minFreeBytes() >> 20));
      }
    }

    /** Whether a WAL may not have so many bytes. */
    boolean isOverLimit(long bytes, boolean reserve) {
      return bytes > limits.maxBytes() + (reserve ? RESERVE_BYTES : 0);
    }

    /** Not by {@code Files.getFileStore}, which needs /proc/mounts: a service may not see it. */
    private static long usable(Path directory) {
      long bytes = directory.toFile().getUsableSpace();
      if (bytes == 0 && !Files.isDirectory(directory)) {
        throw new WalException(
            "cannot ask the file system of " + directory + " for room: it is not there any more");
      }
      return bytes;
    }
  }
}
