package io.gameq.wal;

import io.gameq.GameQueueException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A file of a WAL and what its first intact record says of it; immutable.
 *
 * @param first null when the file holds no intact record
 */
record WalFile(Path path, @Nullable First first) {
  static final String SUFFIX = ".cq4";

  /** A file that is being prepared; without a record yet. */
  static final String PREPARED_SUFFIX = ".new";

  private static final int PEEK_BYTES = 64 << 10;

  /** The envelope of a file's first record. */
  record First(int tag, long sequence) {}

  String name() {
    return String.valueOf(path.getFileName());
  }

  long firstSequence() {
    return first == null ? Long.MAX_VALUE : first.sequence();
  }

  boolean isOf(int tag) {
    return first != null && first.tag() == tag;
  }

  /** The files in {@code directory} by their first sequence; those without records come last. */
  static List<WalFile> list(Path directory) {
    try (Stream<Path> files = Files.list(directory)) {
      return files
          .filter(path -> path.getFileName().toString().endsWith(SUFFIX))
          .map(path -> new WalFile(path, peek(path)))
          .sorted(Comparator.comparingLong(WalFile::firstSequence).thenComparing(WalFile::path))
          .toList();
    } catch (IOException e) {
      throw new GameQueueException("cannot read " + directory + " (" + e + ")", e);
    }
  }

  private static @Nullable First peek(Path path) {
    try (FileWindow window = new FileWindow(path, PEEK_BYTES)) {
      return FileScan.first(window);
    } catch (IOException e) {
      return null; // reading it will fail again, and say so
    }
  }
}
