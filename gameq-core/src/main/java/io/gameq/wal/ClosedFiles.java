package io.gameq.wal;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Deque;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The files of a WAL that nothing is appended to any more, oldest first. Not thread-safe. */
final class ClosedFiles {
  private static final Logger LOG = LoggerFactory.getLogger(ClosedFiles.class);

  private final Path directory;
  private final WalLimits limits;
  private final Deque<ClosedFile> files = new ArrayDeque<>();
  private long bytes;

  private record ClosedFile(String name, long lastSequence, long bytes, long closedNanos) {}

  ClosedFiles(Path directory, WalLimits limits) {
    this.directory = directory;
    this.limits = limits;
  }

  void add(String name, long lastSequence, long bytesWritten) {
    files.add(new ClosedFile(name, lastSequence, bytesWritten, System.nanoTime()));
    bytes += bytesWritten;
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
      boolean old = System.nanoTime() - oldest.closedNanos() > limits.keep().toNanos();
      boolean tooMany = bytes + currentBytes > limits.maxBytes() - limits.fileBytes();
      if (oldest.lastSequence() >= neededFrom || !(old || tooMany)) {
        return;
      }
      try {
        WalMarkers.writeTrimmed(directory, oldest.lastSequence() + 1); // before: else it is missed
        Files.deleteIfExists(directory.resolve(oldest.name()));
      } catch (IOException e) {
        LOG.warn("cannot delete {} from the WAL {}: {}", oldest.name(), directory, e.toString());
        return;
      }
      files.remove();
      bytes -= oldest.bytes();
    }
  }
}
