package io.gameq.wal;

import io.gameq.WalLimits;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Removes WALs whose node ended with everything durable. Never touches others, nor files that are
 * not a WAL's. Stateless.
 */
final class CompleteWals {
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
                  directory, complete.get().bytes(), Files.getLastModifiedTime(marker).toMillis()));
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
