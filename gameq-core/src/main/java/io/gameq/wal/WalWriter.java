package io.gameq.wal;

import io.gameq.WalException;
import io.gameq.WalFullException;
import io.gameq.WalLimits;
import io.gameq.WalSync;
import io.gameq.change.Commit;
import io.gameq.change.Commit.CommitPart;
import io.gameq.wal.AppendedFiles.CurrentFile;
import io.gameq.wal.FileScan.Envelope;
import io.gameq.wal.Retention.LiveRecords;
import io.gameq.wal.WalCodec.BodyWriter;
import io.gameq.wal.WalReading.LiveWals;
import io.gameq.wal.WalReading.WalFile;
import java.io.Closeable;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import java.util.stream.Stream;
import net.openhft.chronicle.core.Jvm;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

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

  /**
   * Turns off what Chronicle Queue does besides queueing: its banner, its disk monitor, its usage
   * analytics. Stateless.
   */
  static final class ChronicleSettings {
    private ChronicleSettings() {}

    static void quiet() {
      System.setProperty("chronicle.announcer.disable", "true");
      System.setProperty("chronicle.disk.monitor.disable", "true");
      System.setProperty("chronicle.analytics.disable", "true");
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
   *     younger than {@link io.gameq.WalLimits#keep}: Redis may yet lose the messages of it
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
   * What each file of a WAL begins with, so that it can be read without the others: its header and
   * the column lists. Not thread-safe.
   */
  static final class Preamble {
    private final List<WalCodec.Body> bodies = new ArrayList<>();
    private final Set<WalRecord.Layout> layouts = new HashSet<>();

    Preamble(WalRecord.Header header, List<WalRecord.Layout> layouts) {
      bodies.add(WalCodec.header(header));
      layouts.forEach(this::add);
    }

    void add(WalRecord.Layout layout) {
      bodies.add(WalCodec.layout(layout));
      layouts.add(layout);
    }

    boolean has(WalRecord.Layout layout) {
      return layouts.contains(layout);
    }

    List<WalCodec.Body> bodies() {
      return bodies;
    }
  }

  /**
   * A WAL holds players' data: only the user that runs the node may look into it. File systems that
   * know no such permissions are taken as they are. Stateless.
   */
  static final class Permissions {
    private static final Set<PosixFilePermission> DIRECTORY =
        PosixFilePermissions.fromString("rwx------");
    private static final Set<PosixFilePermission> FILE =
        PosixFilePermissions.fromString("rw-------");

    private Permissions() {}

    static void createDirectory(Path directory) throws IOException {
      if (arePosix(directory)) {
        Files.createDirectory(directory, PosixFilePermissions.asFileAttribute(DIRECTORY));
      } else {
        Files.createDirectory(directory);
      }
    }

    static void createFile(Path file) throws IOException {
      if (arePosix(file)) {
        Files.createFile(file, PosixFilePermissions.asFileAttribute(FILE));
      } else {
        Files.createFile(file);
      }
    }

    static void ownerOnly(Path file) throws IOException {
      if (arePosix(file)) {
        Files.setPosixFilePermissions(file, FILE);
      }
    }

    /** Not by {@code Files.getFileStore}, which needs /proc/mounts: a service may not see it. */
    private static boolean arePosix(Path path) {
      return path.getFileSystem().supportedFileAttributeViews().contains("posix");
    }
  }

  /**
   * Tells an embedder which JVM flags Chronicle Queue misses, before it fails somewhere inside.
   * Stateless.
   */
  public static final class JvmFlags {
    /** From here on a JVM warns of what Chronicle Queue does with memory; 17 knows no such flag. */
    private static final int WARNS_OF_UNSAFE = 24;

    private JvmFlags() {}

    /**
     * Looks whether this JVM has what the WAL needs; asks nobody.
     *
     * @throws WalException when it has not, naming the flags that are missing
     */
    public static void check() {
      Module base = Object.class.getModule();
      Module chronicle = Jvm.class.getModule();
      String to = "=" + (chronicle.isNamed() ? chronicle.getName() : "ALL-UNNAMED");
      List<String> missing = new ArrayList<>();
      if (!base.isOpen("java.lang.reflect", chronicle)) {
        missing.add("--add-opens=java.base/java.lang.reflect" + to);
      }
      if (!base.isExported("sun.nio.ch", chronicle)) {
        missing.add("--add-exports=java.base/sun.nio.ch" + to);
      }
      if (missing.isEmpty()) {
        return;
      }
      int needed = missing.size();
      if (!base.isExported("jdk.internal.ref", chronicle)) {
        missing.add("--add-exports=java.base/jdk.internal.ref" + to);
      }
      if (Runtime.version().feature() >= WARNS_OF_UNSAFE) {
        missing.add("--sun-misc-unsafe-memory-access=allow");
      }
      String line = String.join(" ", missing);
      throw new WalException(
          "this JVM was started without flags that Chronicle Queue, which the WAL uses, needs. Add"
              + " to the java command line, or to JDK_JAVA_OPTIONS: "
              + line
              + (missing.size() == needed
                  ? ""
                  : " (all but the first %s against warnings alone)".formatted(needed)));
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

    /**
     * With another way to ask for room.
     *
     * @param usable free bytes
     */
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

  /**
   * Removes WALs whose node ended with everything durable. Never touches others, nor files that are
   * not a WAL's. Stateless.
   */
  static final class CompleteWals {
    private static final Logger LOG = LoggerFactory.getLogger(CompleteWals.class);

    private CompleteWals() {}

    private record Wal(Path directory, long bytes, long completedMillis) {}

    /** Removes those older than {@code limits} keep, and the oldest beyond their bytes. */
    static void removeExpired(Path parent, WalLimits limits) throws IOException {
      List<Wal> wals = new ArrayList<>();
      try (Stream<Path> directories = Files.list(parent)) {
        for (Path directory : directories.toList()) {
          Path marker = directory.resolve(WalMarkers.COMPLETE_FILE);
          var complete = WalMarkers.complete(directory);
          if (complete.isPresent()
              && !WalMarkers.isKeptForMessages(directory)
              && !LiveWals.isLive(directory)) {
            wals.add(
                new Wal(
                    directory,
                    complete.get().bytes(),
                    Files.getLastModifiedTime(marker).toMillis()));
          }
        }
      }
      wals.sort(Comparator.comparingLong(Wal::completedMillis));
      long bytes = wals.stream().mapToLong(Wal::bytes).sum();
      for (Wal wal : wals) {
        boolean old = System.currentTimeMillis() - wal.completedMillis() > limits.keep().toMillis();
        if (old || bytes > limits.maxBytes()) {
          bytes -= wal.bytes();
          remove(wal.directory());
        }
      }
    }

    /** Removes one complete WAL; what fails is left to the next start. */
    static void remove(Path directory) {
      try {
        try (Stream<Path> files = Files.list(directory)) {
          for (Path file : files.filter(CompleteWals::isOurs).toList()) {
            Files.deleteIfExists(file);
          }
        }
        // Last: without it, nothing would ever remove the rest.
        Files.deleteIfExists(directory.resolve(WalMarkers.COMPLETE_FILE));
        Files.deleteIfExists(directory);
        LOG.info("removed the WAL {}: all of it is in MySQL", directory);
      } catch (IOException e) {
        LOG.warn("cannot remove the WAL {}: {}", directory, e.toString());
      }
    }

    private static boolean isOurs(Path file) {
      String name = String.valueOf(file.getFileName());
      return !name.equals(WalMarkers.COMPLETE_FILE)
          && (name.endsWith(WalFile.SUFFIX)
              || name.endsWith(WalFile.PREPARED_SUFFIX)
              || WalReading.OTHER_FILES.contains(name));
    }
  }
}
