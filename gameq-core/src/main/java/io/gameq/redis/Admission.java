package io.gameq.redis;

import io.gameq.QueueFullException;
import io.gameq.commit.Limits;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;

/** Room for commits that wait for Redis, counted in commits and in bytes. Thread-safe. */
final class Admission {
  private final Limits limits;
  private final Semaphore commits;
  private final Semaphore bytes;

  Admission(Limits limits) {
    this.limits = limits;
    this.commits = new Semaphore(limits.inFlightCommits());
    this.bytes = new Semaphore(limits.inFlightBytes());
  }

  /**
   * Takes room for one commit, or waits for it. Throws {@link QueueFullException} when there was
   * none in time; then nothing is taken.
   */
  void enter(int commitBytes) {
    long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(limits.admissionMillis());
    take(commits, 1, deadline, limits.inFlightCommits() + " commits");
    try {
      take(bytes, commitBytes, deadline, limits.inFlightBytes() + " bytes");
    } catch (QueueFullException e) {
      commits.release();
      throw e;
    }
  }

  private void take(Semaphore room, int permits, long deadlineNanos, String what) {
    try {
      if (!room.tryAcquire(
          permits, Math.max(0, deadlineNanos - System.nanoTime()), TimeUnit.NANOSECONDS)) {
        throw new QueueFullException(
            "more than %s of this node wait for Redis and none left within %d ms: Redis is slow or away, or the limit is too low"
                .formatted(what, limits.admissionMillis()));
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new QueueFullException(
          "interrupted while waiting for room in the queue; nothing was committed");
    }
  }

  void leave(int commitBytes) {
    bytes.release(commitBytes);
    commits.release();
  }
}
