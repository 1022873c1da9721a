package io.gameq.topic;

import io.gameq.QueueFullException;

/**
 * The bounds of a node, each with its unit. What happens at the limit: a row or a commit that is
 * too large is refused at once; a commit that finds the node full waits up to {@code
 * admissionMillis}, then is refused with {@link QueueFullException}.
 *
 * @param rowBytes encoded bytes of one row image
 * @param commitRows rows of one commit, over all its sessions
 * @param commitBytes bytes of one commit: row keys and images
 * @param inFlightCommits commits of this node that wait for Redis
 * @param inFlightBytes bytes of the commits of this node that wait for Redis
 * @param dirtyRowsPerOwner distinct rows of one owner, opened here, that wait for MySQL
 * @param dirtyBytesPerOwner bytes of these rows, keys and images: a writer takes and flushes them
 *     at once
 * @param admissionMillis how long a commit waits for room; 0 refuses at once
 * @param journalCommits commits that may wait beside inFlightCommits while Redis is away
 * @param journalBytes bytes that may wait beside inFlightBytes while Redis is away
 * @param journalMillis how long Redis may be away before commits are refused all the same
 */
public record Limits(
    int rowBytes,
    int commitRows,
    int commitBytes,
    int inFlightCommits,
    int inFlightBytes,
    int dirtyRowsPerOwner,
    int dirtyBytesPerOwner,
    long admissionMillis,
    int journalCommits,
    int journalBytes,
    long journalMillis) {
  /**
   * Fits a player with large blobs, and stays well below what one WAL record or one Redis reply can
   * carry.
   */
  public static final Limits DEFAULT =
      new Limits(
          2 << 20, 1_000, 8 << 20, 50_000, 64 << 20, 20_000, 32 << 20, 5_000, 200_000, 256 << 20,
          300_000);
}
