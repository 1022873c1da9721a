package io.gameq.wal;

import java.io.Closeable;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Whether somebody writes a WAL now: its writer holds a lock on a file in it, which the operating
 * system gives up when the process dies. Thread-safe.
 */
final class LiveWals {
  static final String LOCK_FILE = "writer.lock";

  /** Of this process: opening a lock file that it holds would give the lock up on closing. */
  private static final Set<Path> OURS = ConcurrentHashMap.newKeySet();

  private LiveWals() {}

  /** Marks a WAL as live until the result is closed. */
  static Closeable hold(Path directory) throws IOException {
    Path real = directory.toRealPath();
    Path lock = directory.resolve(LOCK_FILE);
    Permissions.createFile(lock);
    FileChannel channel = FileChannel.open(lock, StandardOpenOption.WRITE);
    try {
      channel.tryLock(); // a file system without locks: readers then take the writer for dead
    } catch (IOException e) {
      channel.close();
    }
    OURS.add(real);
    return () -> {
      OURS.remove(real);
      channel.close();
    };
  }

  static boolean isLive(Path directory) {
    Path lock = directory.resolve(LOCK_FILE);
    try {
      if (OURS.contains(directory.toRealPath())) {
        return true;
      }
      if (!Files.exists(lock)) {
        return false;
      }
      try (FileChannel channel = FileChannel.open(lock, StandardOpenOption.READ);
          FileLock free = channel.tryLock(0, Long.MAX_VALUE, true)) {
        return free == null;
      }
    } catch (OverlappingFileLockException e) { // another thread looks at this moment
      return true;
    } catch (IOException e) {
      return false;
    }
  }
}
