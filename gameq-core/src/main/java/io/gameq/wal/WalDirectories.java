package io.gameq.wal;

import io.gameq.GameQueueException;
import io.gameq.wal.WalReading.WalFile;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.TreeSet;
import java.util.stream.Stream;

/** Finds WALs where somebody says that they are. Stateless. */
public final class WalDirectories {
  /** {@code wal/<node>-<start>-<process>/...} below what was given, and one above it. */
  private static final int DEPTH = 3;

  private WalDirectories() {}

  /**
   * The WALs among these directories, and inside of those that are none; in the order of their
   * names.
   *
   * @throws GameQueueException naming the first directory that neither is nor holds a WAL
   */
  public static List<Path> below(Collection<Path> directories) {
    TreeSet<Path> found = new TreeSet<>();
    for (Path directory : directories) {
      List<Path> below = below(directory);
      if (below.isEmpty()) {
        throw new GameQueueException(
            directory
                + (Files.exists(directory) ? " is no WAL and holds none" : " does not exist")
                + ": give a directory <node>-<start>-<process> that holds .cq4 files, or one above"
                + " it");
      }
      found.addAll(below);
    }
    return List.copyOf(found);
  }

  private static List<Path> below(Path directory) {
    if (!Files.isDirectory(directory)) {
      return List.of();
    }
    try (Stream<Path> all = Files.find(directory, DEPTH, (path, is) -> is.isDirectory())) {
      List<Path> wals = new ArrayList<>();
      for (Path path : all.toList()) {
        if (isWal(path)) {
          wals.add(path.toAbsolutePath().normalize());
        }
      }
      return wals;
    } catch (IOException | UncheckedIOException e) {
      throw new GameQueueException("cannot look into " + directory + ": " + e.getMessage(), e);
    }
  }

  /** Whether a WAL has files for records: it has none when its node died while it made it. */
  public static boolean hasFiles(Path wal) {
    return !WalFile.list(wal).isEmpty();
  }

  private static boolean isWal(Path directory) throws IOException {
    try (Stream<Path> files = Files.list(directory)) {
      return files.anyMatch(file -> file.toString().matches(".*\\.cq4t?"));
    }
  }
}
