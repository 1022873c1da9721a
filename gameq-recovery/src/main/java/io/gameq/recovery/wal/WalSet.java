package io.gameq.recovery.wal;

import io.gameq.GameQueueException;
import io.gameq.wal.WalReader;
import io.gameq.wal.WalRecord;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeSet;
import java.util.stream.Stream;

/** The WALs of one command line, always read in the same order. Not thread-safe. */
public final class WalSet {
  /** {@code wal/<node>-<start>-<process>/...} below what was given, and one above it. */
  private static final int DEPTH = 3;

  private final List<WalFolder> folders;

  private WalSet(List<WalFolder> folders) {
    this.folders = folders;
  }

  /** Takes a record of one WAL. */
  public interface Sink {
    void accept(int wal, WalReader.Entry entry);
  }

  /**
   * The WALs among these directories, and inside of those that are none.
   *
   * @throws GameQueueException naming the first directory that neither is nor holds a WAL
   */
  public static WalSet open(List<Path> arguments) {
    TreeSet<Path> found = new TreeSet<>();
    for (Path argument : arguments) {
      List<Path> below = below(argument);
      if (below.isEmpty()) {
        throw new GameQueueException(
            argument
                + (Files.exists(argument) ? " is no WAL and holds none" : " does not exist")
                + ": give a directory <node>-<start>-<process> that holds .cq4 files, or one above"
                + " it");
      }
      found.addAll(below);
    }
    return new WalSet(found.stream().map(WalFolder::new).toList());
  }

  private static List<Path> below(Path argument) {
    if (!Files.isDirectory(argument)) {
      return List.of();
    }
    try (Stream<Path> all = Files.find(argument, DEPTH, (path, is) -> is.isDirectory())) {
      List<Path> wals = new ArrayList<>();
      for (Path path : all.toList()) {
        if (isWal(path)) {
          wals.add(path.toAbsolutePath().normalize());
        }
      }
      return wals;
    } catch (IOException | java.io.UncheckedIOException e) {
      throw new GameQueueException("cannot look into " + argument + ": " + e.getMessage(), e);
    }
  }

  private static boolean isWal(Path directory) throws IOException {
    try (Stream<Path> files = Files.list(directory)) {
      return files.anyMatch(file -> file.toString().matches(".*\\.cq4t?"));
    }
  }

  /** The WALs, in the order in which they are read. */
  public List<WalFolder> folders() {
    return folders;
  }

  /** Hands every readable record of every WAL to {@code sink}. */
  public void read(Sink sink) {
    for (int i = 0; i < folders.size(); i++) {
      int wal = i;
      folders.get(i).read(entry -> sink.accept(wal, entry));
    }
  }

  /** Learns the header of each WAL, unless it is known. */
  public void readHeaders() {
    folders.forEach(WalFolder::readHeader);
  }

  /** Which column lists rows were written with is asked of every WAL; null when none knows. */
  public @org.jspecify.annotations.Nullable String layout(String table, long fingerprint) {
    WalFolder.LayoutName name = new WalFolder.LayoutName(table, fingerprint);
    return folders.stream()
        .map(folder -> folder.layouts().get(name))
        .filter(java.util.Objects::nonNull)
        .findFirst()
        .orElse(null);
  }

  /** The parts of a record that hold rows: of a commit, or adopted. */
  public static List<WalRecord.Part> parts(WalRecord record) {
    if (record instanceof WalRecord.Committed committed) {
      return committed.parts();
    }
    return record instanceof WalRecord.Adopted adopted ? List.of(adopted.part()) : List.of();
  }
}
