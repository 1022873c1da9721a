package io.gameq.wal;

import io.gameq.WalException;
import io.gameq.WalFullException;
import java.io.Closeable;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.Locale;
import java.util.Objects;
import net.openhft.chronicle.queue.ChronicleQueue;
import net.openhft.chronicle.queue.ExcerptAppender;
import net.openhft.chronicle.queue.RollCycle;
import net.openhft.chronicle.queue.impl.single.SingleChronicleQueueBuilder;
import net.openhft.chronicle.queue.rollcycles.RollCycleArithmetic;
import net.openhft.chronicle.wire.DocumentContext;

/**
 * The files that a {@link WalWriter} appends to, one after another, through Chronicle Queue. Used
 * under the writer's lock.
 *
 * <p>Chronicle Queue writes through mapped memory: a disk that fills up under it is a SIGBUS in the
 * middle of a record. So zeros are written ahead, which fails as an ordinary error before a record
 * begins.
 *
 * <p>What {@link #write} returned for survives a kill of the process, what {@link #sync} returned
 * for a power loss of the host. Where either failed, nobody knows what the file holds, and nothing
 * more is written.
 */
final class AppendedFiles implements Closeable {
  /** What Chronicle Queue and the first records take of a new file, at least. */
  static final long START_BYTES = 256 << 10;

  private static final int BLOCK_BYTES = 64 << 20;

  /** A quarter of the block is what Chronicle Queue takes. */
  static final int MOST_RECORD_BYTES = BLOCK_BYTES / 4 - 1024;

  private static final byte[] ZEROS = new byte[64 << 10];

  /** Chronicle Queue's index pages (32 KiB each) come between records. */
  private static final long MARGIN_BYTES = 128 << 10;

  private static final long AHEAD_BYTES = 1 << 20;

  private final Path directory;
  private final boolean isSyncing;
  private final long startMillis;
  private final long startNanos = System.nanoTime();
  private final ChronicleQueue queue;
  private final ExcerptAppender appender;

  private volatile long clockMillis; // Chronicle Queue's: moves only when a file is to begin
  private RandomAccessFile file;
  private long reserved; // bytes that the file takes on the disk
  private long fileBeganNanos;
  private long position; // in the file, behind the last record
  private boolean unsynced;
  private boolean broken;
  private boolean closed;

  /**
   * Begins the first file.
   *
   * @param isSyncing whether {@link #sync} does anything
   */
  AppendedFiles(Path directory, long startMillis, boolean isSyncing) throws IOException {
    this.directory = directory;
    this.isSyncing = isSyncing;
    this.startMillis = startMillis;
    this.clockMillis = startMillis;
    queue =
        SingleChronicleQueueBuilder.binary(directory)
            .rollCycle(WalRollCycle.INSTANCE)
            .timeProvider(() -> clockMillis)
            .blockSize(BLOCK_BYTES)
            .build();
    appender = queue.createAppender();
    appender.singleThreadedCheckDisabled(true); // one at a time, by the writer's lock
    // The appender takes only whole files that it finds.
    file = create(START_BYTES);
    fileBeganNanos = System.nanoTime();
  }

  /** The name of the file that is appended to. */
  String name() {
    return WalRollCycle.fileName(clockMillis);
  }

  /** Bytes of that file, up to the end of its last record. */
  long position() {
    return position;
  }

  /** How long ago that file was begun. */
  long ageNanos() {
    return System.nanoTime() - fileBeganNanos;
  }

  /** Whether something can be written still. */
  boolean isUsable() {
    return !broken && !closed;
  }

  boolean isClosed() {
    return closed;
  }

  void requireUsable() {
    if (!isUsable()) {
      throw new WalException(
          closed
              ? "the WAL in " + directory + " is closed"
              : "the WAL in "
                  + directory
                  + " could not be written before: restart this node, and keep the directory");
    }
  }

  /**
   * Makes room for a record of so many bytes.
   *
   * @throws WalFullException when there is none; nothing was written
   */
  void reserve(int bytes) {
    try {
      reserved = extend(file, reserved, position + bytes);
    } catch (IOException e) {
      throw full(e);
    }
  }

  /**
   * Creates the file of this name with room for {@code bytes}, or leaves nothing behind. Chronicle
   * Queue takes a file of zeros for a new one.
   */
  private RandomAccessFile create(long bytes) throws IOException {
    Path prepared = directory.resolve(name() + WalDirectory.PREPARED_SUFFIX);
    Files.deleteIfExists(prepared);
    WalDirectory.createFile(prepared);
    RandomAccessFile created = new RandomAccessFile(prepared.toFile(), "rw");
    try {
      long end = extend(created, 0, bytes);
      Files.move(prepared, directory.resolve(name()), StandardCopyOption.ATOMIC_MOVE);
      reserved = end;
      return created;
    } catch (IOException | RuntimeException e) {
      created.close();
      Files.deleteIfExists(prepared);
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

  /** Writes a whole record, for which room was {@linkplain #reserve reserved}. */
  void write(byte[] record, int length) {
    try (DocumentContext document = appender.writingDocument()) {
      var bytes = Objects.requireNonNull(document.wire()).bytes();
      try {
        position = bytes.writePosition();
        bytes.write(record, 0, length);
        position += length;
      } catch (RuntimeException | InternalError e) {
        document.rollbackOnClose(); // else half a record stays
        throw e;
      }
    } catch (RuntimeException | InternalError e) { // memory that cannot be written: InternalError
      broken = true; // nobody knows what is behind the last whole record now
      throw new WalException(
          "cannot append %s bytes to the WAL in %s (%s)".formatted(length, directory, e), e, true);
    }
    unsynced = true;
  }

  /**
   * Syncs and closes the file that is appended to, and begins the next one, with room for a record
   * of so many bytes.
   *
   * @throws WalFullException when there is none; the file stays
   */
  void beginNext(int bytes) {
    sync();
    long before = clockMillis;
    clockMillis =
        Math.max(
            before + WalRollCycle.MILLIS,
            startMillis + (System.nanoTime() - startNanos) / 1_000_000);
    RandomAccessFile next;
    long reservedBefore = reserved;
    try {
      next = create(START_BYTES + bytes);
      if (isSyncing) {
        WalDirectory.sync(directory);
      }
    } catch (IOException e) {
      clockMillis = before;
      reserved = reservedBefore;
      throw full(e);
    }
    closeQuietly(file);
    file = next;
    fileBeganNanos = System.nanoTime();
    position = 0;
  }

  /** See {@link WalWriter#sync}. */
  void sync() {
    if (!isSyncing || !unsynced) {
      return;
    }
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

  @Override
  public void close() {
    closed = true;
    appender.close();
    queue.close();
    closeQuietly(file);
  }

  /** Closes a file through which nothing is written any more. */
  static void closeQuietly(Closeable file) {
    try {
      file.close();
    } catch (IOException e) {
      // what was written through it is there
    }
  }

  /**
   * Names the files of a WAL for Chronicle Queue. Its clock is set by {@link AppendedFiles}, which
   * so begins a new file whenever {@link WalWriter} wants: by bytes and by age. Immutable.
   */
  static final class WalRollCycle implements RollCycle {
    /** The least time between two names; files begun faster have names ahead of the clock. */
    static final int MILLIS = 2_000;

    static final WalRollCycle INSTANCE = new WalRollCycle();

    private static final String FORMAT = "yyyyMMdd-HHmmss";
    private static final DateTimeFormatter NAME =
        DateTimeFormatter.ofPattern(FORMAT, Locale.ROOT).withZone(ZoneOffset.UTC);

    /** Up to 2^32 records in a file, each 256th in Chronicle Queue's own index. */
    private static final RollCycleArithmetic ARITHMETIC = RollCycleArithmetic.of(4 << 10, 256);

    private WalRollCycle() {}

    /** The name of the file at a time of {@link AppendedFiles}'s clock. */
    static String fileName(long millis) {
      return NAME.format(Instant.ofEpochMilli(millis / MILLIS * MILLIS)) + WalDirectory.SUFFIX;
    }

    @Override
    public String format() {
      return FORMAT;
    }

    @Override
    public int lengthInMillis() {
      return MILLIS;
    }

    @Override
    public int defaultIndexCount() {
      return ARITHMETIC.indexCount();
    }

    @Override
    public int defaultIndexSpacing() {
      return ARITHMETIC.indexSpacing();
    }

    @Override
    public long toIndex(int cycle, long sequenceNumber) {
      return ARITHMETIC.toIndex(cycle, sequenceNumber);
    }

    @Override
    public long toSequenceNumber(long index) {
      return ARITHMETIC.toSequenceNumber(index);
    }

    @Override
    public int toCycle(long index) {
      return ARITHMETIC.toCycle(index);
    }

    @Override
    public long maxMessagesPerCycle() {
      return ARITHMETIC.maxMessagesPerCycle();
    }
  }
}
