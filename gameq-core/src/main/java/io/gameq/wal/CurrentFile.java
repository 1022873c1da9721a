package io.gameq.wal;

import java.io.Closeable;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;

/**
 * The file that is appended to, beside Chronicle Queue, which writes it through mapped memory: a
 * disk that fills up under mapped memory is a SIGBUS in the middle of a record. So zeros are
 * written ahead of it, which fails as an ordinary error before a record begins. Not thread-safe.
 */
final class CurrentFile implements Closeable {
  private static final byte[] ZEROS = new byte[64 << 10];

  /** Chronicle Queue's index pages (32 KiB each) come between records. */
  private static final long MARGIN_BYTES = 128 << 10;

  private static final long AHEAD_BYTES = 1 << 20;

  private final RandomAccessFile file;
  private long reserved;

  private CurrentFile(RandomAccessFile file, long reserved) {
    this.file = file;
    this.reserved = reserved;
  }

  /**
   * Creates the file with room for {@code bytes}, or leaves nothing behind. Chronicle Queue takes a
   * file of zeros for a new one.
   */
  static CurrentFile create(Path path, long bytes) throws IOException {
    Path prepared = path.resolveSibling(path.getFileName() + WalFile.PREPARED_SUFFIX);
    Files.deleteIfExists(prepared);
    Permissions.createFile(prepared);
    RandomAccessFile file = new RandomAccessFile(prepared.toFile(), "rw");
    try {
      CurrentFile current = new CurrentFile(file, 0);
      current.reserve(bytes);
      Files.move(prepared, path, StandardCopyOption.ATOMIC_MOVE);
      return current;
    } catch (IOException | RuntimeException e) {
      file.close();
      Files.deleteIfExists(prepared);
      throw e;
    }
  }

  /** Makes sure that all up to {@code position} can be written, with what Chronicle Queue adds. */
  void reserve(long position) throws IOException {
    if (position + MARGIN_BYTES <= reserved) {
      return;
    }
    long to = position + MARGIN_BYTES + AHEAD_BYTES;
    file.seek(reserved); // beyond all that was appended
    while (reserved < to) {
      int bytes = (int) Math.min(ZEROS.length, to - reserved);
      file.write(ZEROS, 0, bytes);
      reserved += bytes;
    }
  }

  /** Bytes that the file takes on the disk. */
  long bytes() {
    return reserved;
  }

  /** Forces the file to the disk, what was written through mapped memory included. */
  void sync() throws IOException {
    file.getFD().sync();
  }

  /** Forces the names in a directory to the disk. */
  static void syncDirectory(Path directory) throws IOException {
    try (FileChannel channel = FileChannel.open(directory, StandardOpenOption.READ)) {
      channel.force(true);
    }
  }

  @Override
  public void close() throws IOException {
    file.close();
  }
}
