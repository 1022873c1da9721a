package io.gameq.config;

import java.time.Duration;

/**
 * How long and how large WALs may get; immutable.
 *
 * @param keep how long records stay after they are durable, since a MySQL replica that is promoted
 *     may have lost commits
 * @param maxBytes of one WAL, and of all complete ones together: durable records go before {@code
 *     keep} is over; when nothing can go, commits are refused
 * @param minFreeBytes of the file system: below it, commits are refused
 * @param sync whether the WAL is forced to the disk before commits are sent
 * @param fileBytes a new file is begun after so many: what is deleted is whole files
 * @param fileAge a new file is begun by the first record after this time
 */
public record WalLimits(
    Duration keep,
    long maxBytes,
    long minFreeBytes,
    WalSync sync,
    long fileBytes,
    Duration fileAge) {
  private static final long FILE_BYTES = 64L << 20;
  private static final Duration FILE_AGE = Duration.ofMinutes(10);

  /** 1 h, 4 GiB, 1 GiB free, no sync. */
  public static final WalLimits DEFAULT =
      new WalLimits(Duration.ofHours(1), 4L << 30, 1L << 30, WalSync.OFF, FILE_BYTES, FILE_AGE);

  /**
   * With files of the usual size and age (64 MiB, 10 min), or smaller ones where {@code maxBytes}
   * is small.
   */
  public static WalLimits of(Duration keep, long maxBytes, long minFreeBytes, WalSync sync) {
    return new WalLimits(
        keep, maxBytes, minFreeBytes, sync, Math.min(FILE_BYTES, maxBytes / 8), FILE_AGE);
  }
}
