package io.gameq.wal;

import io.gameq.WalException;
import io.gameq.WalFullException;
import io.gameq.WalLimits;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/**
 * Refuses records before the disk is full. The file system is asked every {@link #LOOK_BYTES} and
 * {@link #LOOK_NANOS}, and for every record while there is no room. Not thread-safe.
 */
final class RoomGuard {
  private static final long LOOK_BYTES = 8 << 20;
  private static final long LOOK_NANOS = TimeUnit.SECONDS.toNanos(1);

  /** Marks of failed commits and adopted rows may still use so much when commits are refused. */
  private static final long RESERVE_BYTES = 64 << 20;

  private final Path directory;
  private final WalLimits limits;
  private final LongSupplier usable;
  private long free = Long.MAX_VALUE;
  private long bytesSinceLook = LOOK_BYTES;
  private long lookedNanos;

  RoomGuard(Path directory, WalLimits limits) {
    this(directory, limits, () -> usable(directory));
  }

  /**
   * With another way to ask for room.
   *
   * @param usable free bytes
   */
  RoomGuard(Path directory, WalLimits limits, LongSupplier usable) {
    this.directory = directory;
    this.limits = limits;
    this.usable = usable;
  }

  /**
   * Takes note that {@code bytes} are to be appended.
   *
   * @param reserve whether the record may use the reserve
   * @throws WalFullException when the file system has no room for them
   */
  void requireFree(long bytes, boolean reserve) {
    long least =
        reserve
            ? Math.max(limits.minFreeBytes() / 2, limits.minFreeBytes() - RESERVE_BYTES)
            : limits.minFreeBytes();
    bytesSinceLook += bytes;
    long now = System.nanoTime();
    if (bytesSinceLook >= LOOK_BYTES || now - lookedNanos >= LOOK_NANOS || free - bytes < least) {
      free = usable.getAsLong();
      lookedNanos = now;
      bytesSinceLook = 0;
    }
    if (free < least) {
      throw new WalFullException(
          ("the file system of the WAL in %s has %s MiB free, walMinFreeBytes is %s MiB:"
                  + " make room there, commits are then taken again")
              .formatted(directory, free >> 20, limits.minFreeBytes() >> 20));
    }
  }

  /** Whether a WAL may not have so many bytes. */
  boolean isOverLimit(long bytes, boolean reserve) {
    return bytes > limits.maxBytes() + (reserve ? RESERVE_BYTES : 0);
  }

  /** Not by {@code Files.getFileStore}, which needs /proc/mounts: a service may not see it. */
  private static long usable(Path directory) {
    long bytes = directory.toFile().getUsableSpace();
    if (bytes == 0 && !Files.isDirectory(directory)) {
      throw new WalException(
          "cannot ask the file system of " + directory + " for room: it is not there any more");
    }
    return bytes;
  }
}
