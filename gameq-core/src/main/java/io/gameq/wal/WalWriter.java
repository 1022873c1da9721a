package io.gameq.wal;

import io.gameq.commit.Commit;
import io.gameq.commit.CommitPart;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;
import net.openhft.chronicle.queue.ChronicleQueue;
import net.openhft.chronicle.queue.ExcerptAppender;
import net.openhft.chronicle.queue.RollCycles;
import net.openhft.chronicle.queue.impl.single.SingleChronicleQueueBuilder;
import net.openhft.chronicle.wire.DocumentContext;
import org.jspecify.annotations.Nullable;

/**
 * Appends to the WAL of this process. One thread, the sender's, appends; opened and closed by any.
 *
 * <p>What append returned for is in the page cache: it survives a kill of the process, not a power
 * loss.
 */
public final class WalWriter implements AutoCloseable {
  static final int BLOCK_BYTES = 64 << 20;

  /** A quarter of the block is what Chronicle Queue takes. */
  static final int MOST_RECORD_BYTES = BLOCK_BYTES / 4 - 1024;

  private static final DateTimeFormatter START =
      DateTimeFormatter.ofPattern("yyyyMMdd'T'HHmmss'Z'").withZone(ZoneOffset.UTC);

  private final String id;
  private final Path directory;
  private final ChronicleQueue queue;
  private final WalCodec codec = new WalCodec();
  private @Nullable ExcerptAppender appender;
  private long sequence;
  private boolean broken;
  private volatile boolean complete;

  private WalWriter(String id, Path directory, ChronicleQueue queue) {
    this.id = id;
    this.directory = directory;
    this.queue = queue;
  }

  /**
   * Where and for whom a WAL begins.
   *
   * @param parent the directory that holds one directory per process start
   * @param process 8 hex digits that name this process
   */
  public record Start(
      Path parent, String namespace, int slots, String node, String process, long nowMillis) {}

  /**
   * Creates a fresh WAL directory and writes its header and layouts.
   *
   * @throws WalException when JVM flags are missing or the directory cannot be made
   */
  public static WalWriter create(Start start, WalLimits limits, List<WalRecord.Layout> layouts) {
    JvmFlags.check();
    ChronicleSettings.quiet();
    String id =
        start.node()
            + "-"
            + START.format(Instant.ofEpochMilli(start.nowMillis()))
            + "-"
            + start.process();
    Path parent = start.parent();
    Path directory = parent.resolve(id);
    try {
      Files.createDirectories(parent);
      if (Files.getFileStore(parent).supportsFileAttributeView("posix")) {
        Files.createDirectory(
            directory,
            PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
      } else {
        Files.createDirectory(directory);
      }
    } catch (IOException e) {
      throw new WalException(
          "cannot create the WAL directory "
              + directory
              + " ("
              + e
              + "): give a directory that this user may write",
          e);
    }
    ChronicleQueue queue =
        SingleChronicleQueueBuilder.binary(directory)
            .rollCycle(RollCycles.FAST_HOURLY)
            .blockSize(BLOCK_BYTES)
            .build();
    WalWriter wal = new WalWriter(id, directory, queue);
    wal.append(
        WalCodec.header(
            new WalRecord.Header(
                WalCodec.FORMAT,
                id,
                start.namespace(),
                start.slots(),
                start.node(),
                start.nowMillis())));
    layouts.forEach(layout -> wal.append(WalCodec.layout(layout)));
    wal.releaseAppender();
    return wal;
  }

  /** The name of this WAL: the field of its journal marks. */
  public String id() {
    return id;
  }

  public Path directory() {
    return directory;
  }

  /** Appends a commit and gives it its sequence. */
  public void append(Commit commit) {
    commit.setSequence(append(WalCodec.commit(commit.parts())));
  }

  /** Notes that a commit failed, before the game is told, so that nothing ever replays it. */
  public void appendFailed(Commit commit) {
    append(WalCodec.failed(commit.sequence()));
  }

  /** Notes rows that a session took over. */
  public long appendAdopted(CommitPart part) {
    return append(WalCodec.adopted(part));
  }

  /** The sequence of the newest record. */
  public long newestSequence() {
    return sequence;
  }

  private long append(WalCodec.Body body) {
    if (broken) {
      throw new WalException(
          "the WAL in "
              + directory
              + " could not be written before: restart this node, and keep the directory");
    }
    byte[] record = codec.encode(sequence + 1, body);
    if (record.length > MOST_RECORD_BYTES) {
      throw new WalException(
          "a WAL record of %d bytes, the limit is %d".formatted(record.length, MOST_RECORD_BYTES));
    }
    if (appender == null) {
      appender = queue.createAppender();
    }
    try (DocumentContext document = appender.writingDocument()) {
      write(document, record);
    } catch (RuntimeException | InternalError e) { // a full disk is an InternalError
      broken = true; // nobody knows what is behind the last whole record now
      throw new WalException(
          "cannot append %d bytes to the WAL in %s (%s): check free space"
              .formatted(record.length, directory, e),
          e);
    }
    return ++sequence;
  }

  private static void write(DocumentContext document, byte[] record) {
    try {
      java.util.Objects.requireNonNull(document.wire()).bytes().write(record);
    } catch (RuntimeException | InternalError e) {
      document.rollbackOnClose(); // else half a record stays
      throw e;
    }
  }

  /**
   * An appender belongs to the thread that made it: the creator's goes before the sender's begins.
   */
  private void releaseAppender() {
    if (appender != null) {
      appender.close();
      appender = null;
    }
  }

  /**
   * Deletes files that nothing needs any more: all of whose records are below {@code neededFrom}
   * and older than {@link WalLimits#keep}, or more than {@link WalLimits#maxBytes} allow. Any
   * thread.
   *
   * @param neededFrom the first sequence that may still have to be replayed
   */
  public void retain(long neededFrom) {}

  /** Whether {@link #sync()} does anything. */
  public boolean isSyncing() {
    return false;
  }

  /**
   * Forces all that was appended to the disk; does nothing with {@link io.gameq.WalSync#OFF}. By
   * the thread that appends.
   *
   * @throws WalException when the disk refuses; then nobody knows what it holds, and the WAL takes
   *     no further record
   */
  public void sync() {}

  /** Has {@link #close} remove the files: for a node whose every commit is in MySQL. */
  public void complete() {
    complete = true;
  }

  @Override
  public void close() {
    releaseAppender();
    queue.close();
    if (complete) {
      delete();
    }
  }

  private void delete() {
    try (Stream<Path> files = Files.walk(directory)) {
      for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
        Files.deleteIfExists(file);
      }
    } catch (IOException e) {
      throw new WalException("cannot remove the WAL directory " + directory, e);
    }
  }
}
