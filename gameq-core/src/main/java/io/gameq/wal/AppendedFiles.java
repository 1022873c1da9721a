package io.gameq.wal;

import io.gameq.WalException;
import io.gameq.WalFullException;
import java.io.Closeable;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Objects;
import net.openhft.chronicle.queue.ChronicleQueue;
import net.openhft.chronicle.queue.ExcerptAppender;
import net.openhft.chronicle.queue.impl.single.SingleChronicleQueueBuilder;
import net.openhft.chronicle.wire.DocumentContext;

/**
 * The files that a {@link WalWriter} appends to, one after another, through Chronicle Queue. Used
 * under the writer's lock.
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

  private final Path directory;
  private final boolean isSyncing;
  private final long startMillis;
  private final long startNanos = System.nanoTime();
  private final ChronicleQueue queue;
  private final ExcerptAppender appender;

  private volatile long clockMillis; // Chronicle Queue's: moves only when a file is to begin
  private CurrentFile file;
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
    file = CurrentFile.create(path(), START_BYTES);
    fileBeganNanos = System.nanoTime();
  }

  private Path path() {
    return directory.resolve(name());
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
      file.reserve(position + bytes);
    } catch (IOException e) {
      throw full(e);
    }
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
    CurrentFile next;
    try {
      next = CurrentFile.create(path(), START_BYTES + bytes);
      if (isSyncing) {
        CurrentFile.syncDirectory(directory);
      }
    } catch (IOException e) {
      clockMillis = before;
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
      file.sync();
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
}
