package io.gameq.healing;

import io.gameq.wal.WalDirectories;
import io.gameq.wal.WalReader;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.function.ObjIntConsumer;
import org.jspecify.annotations.Nullable;

/** The WALs of one command line, always read in the same order. Not thread-safe. */
public final class WalSet {
  private final List<WalFolder> folders;

  WalSet(List<WalFolder> folders) {
    this.folders = folders;
  }

  /**
   * The WALs among these directories, and inside of those that are none.
   *
   * @throws io.gameq.GameQueueException naming the first directory that neither is nor holds a WAL
   */
  public static WalSet open(List<Path> arguments) {
    return new WalSet(WalDirectories.below(arguments).stream().map(WalFolder::new).toList());
  }

  /** The WALs, in the order in which they are read. */
  public List<WalFolder> folders() {
    return folders;
  }

  /** Hands every readable record of every WAL, with the WAL's number, to {@code sink}. */
  public void read(ObjIntConsumer<WalReader.Entry> sink) {
    for (int i = 0; i < folders.size(); i++) {
      int wal = i;
      folders.get(i).read(entry -> sink.accept(entry, wal));
    }
  }

  /** Learns the header of each WAL, unless it is known. */
  public void readHeaders() {
    folders.forEach(WalFolder::readHeader);
  }

  /** Those of them to which something was written; the folders are the same ones. */
  public WalSet notEmpty() {
    return new WalSet(folders.stream().filter(folder -> !folder.isEmpty()).toList());
  }

  /** Which column lists rows were written with is asked of every WAL; null when none knows. */
  public @Nullable String layout(String table, long fingerprint) {
    WalFolder.LayoutName name = new WalFolder.LayoutName(table, fingerprint);
    return folders.stream()
        .map(folder -> folder.layouts().get(name))
        .filter(Objects::nonNull)
        .findFirst()
        .orElse(null);
  }
}
