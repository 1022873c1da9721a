package io.gameq.wal;

import io.gameq.WalLimits;
import io.gameq.wal.WalWriter.WalNeeds;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The files of a WAL that nothing is appended to any more, oldest first. Not thread-safe. */
final class ClosedFiles {
  private static final Logger LOG = LoggerFactory.getLogger(ClosedFiles.class);

  /**
   * What is still needed is carried forward when it is at most one in so many bytes of the oldest
   * files: so a carried row costs little, and what is left is never many times what is needed.
   */
  private static final int CARRIED_SHARE = 4;

  private final Path directory;
  private final WalLimits limits;
  private final Deque<ClosedFile> files = new ArrayDeque<>();
  private long bytes;
  private long first;
  private long messagesFrom = Long.MAX_VALUE;

  private static final class ClosedFile {
    private final String name;
    private final long lastSequence;
    private final long bytes;
    private final long closedNanos = System.nanoTime();
    private double bytesPerRecord;

    ClosedFile(String name, long firstSequence, long lastSequence, long bytes) {
      this.name = name;
      this.lastSequence = lastSequence;
      this.bytes = bytes;
      this.bytesPerRecord = (double) bytes / (lastSequence - firstSequence + 1);
    }
  }

  /**
   * The oldest file, of which little is needed.
   *
   * @param places of what is needed
   * @param mostBytes that may be carried
   */
  record Sparse(Path file, long[] places, long mostBytes) {}

  ClosedFiles(Path directory, WalLimits limits, long firstSequence) {
    this.directory = directory;
    this.limits = limits;
    this.first = firstSequence;
  }

  void add(String name, long lastSequence, long bytesWritten) {
    files.add(new ClosedFile(name, end(), lastSequence, bytesWritten));
    bytes += bytesWritten;
  }

  /** The first sequence behind these files. */
  long end() {
    ClosedFile newest = files.peekLast();
    return newest == null ? first : newest.lastSequence + 1;
  }

  /** The lowest sequence that was not deleted. */
  long first() {
    return first;
  }

  long bytes() {
    return bytes;
  }

  /**
   * Deletes the oldest files while nothing needs them.
   *
   * @param neededFrom no file that holds it or a later record goes
   * @param currentBytes of the file that is appended to
   */
  void delete(long neededFrom, long currentBytes) {
    for (ClosedFile oldest; (oldest = files.peek()) != null; ) {
      if (oldest.lastSequence >= neededFrom || !(isOld(oldest) || isTooMany(currentBytes))) {
        return;
      }
      try {
        WalMarkers.writeTrimmed(directory, oldest.lastSequence + 1); // before: else it is missed
        Files.deleteIfExists(directory.resolve(oldest.name));
      } catch (IOException e) {
        LOG.warn("cannot delete {} from the WAL {}: {}", oldest.name, directory, e.toString());
        return;
      }
      files.remove();
      bytes -= oldest.bytes;
      first = oldest.lastSequence + 1;
    }
  }

  /** See {@link WalNeeds#messagesFrom}. */
  void keepMessagesFrom(long sequence) {
    messagesFrom = sequence;
  }

  private boolean isOld(ClosedFile file) {
    return file.lastSequence < messagesFrom
        && System.nanoTime() - file.closedNanos > limits.keep().toNanos();
  }

  private boolean isTooMany(long currentBytes) {
    return bytes + currentBytes > limits.maxBytes() - limits.fileBytes();
  }

  /**
   * The oldest file, when it would be deleted if nothing needed it, and little is needed of it, or
   * of it and those after it that would then go as well. Null when there is none.
   *
   * @param places of all that is needed, the lowest first
   * @param carriedBelow what is needed from there on cannot be carried
   */
  @Nullable Sparse sparse(long[] places, long carriedBelow, long currentBytes) {
    boolean tooMany = isTooMany(currentBytes);
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
        return ofOldest(places, all / CARRIED_SHARE);
      }
    }
    return null;
  }

  private Sparse ofOldest(long[] places, long mostBytes) {
    ClosedFile oldest = files.element();
    return new Sparse(
        directory.resolve(oldest.name),
        LongStream.of(places).takeWhile(place -> place <= oldest.lastSequence).toArray(),
        mostBytes);
  }

  /** What is needed of the oldest file is larger than its records are on average. */
  void measured(double bytesPerRecord) {
    files.element().bytesPerRecord = bytesPerRecord;
  }
}
