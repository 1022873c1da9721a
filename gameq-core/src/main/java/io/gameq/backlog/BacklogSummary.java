package io.gameq.backlog;

/**
 * What a node needs to know of a {@link Backlog}. Immutable.
 *
 * @param oldestAgeMillis how long the oldest change waits for MySQL, at least, without owners that
 *     are held up; 0 when none does
 * @param rows that no writer has claimed, estimated
 * @param usedBytes memory of Redis
 * @param mostBytes its limit; 0 without one
 */
public record BacklogSummary(long oldestAgeMillis, long rows, long usedBytes, long mostBytes) {
  /** What a node needs of a look. */
  public static BacklogSummary of(Backlog backlog) {
    return new BacklogSummary(
        backlog.oldestPassingAgeMillis(),
        backlog.rows(),
        backlog.redis().usedBytes(),
        backlog.redis().mostBytes());
  }

  /** Used memory as a share of the limit, 0 to 1; 0 without a limit. */
  double fullness() {
    return mostBytes == 0 ? 0 : (double) usedBytes / mostBytes;
  }
}
