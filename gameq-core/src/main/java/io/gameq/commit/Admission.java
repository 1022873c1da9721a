package io.gameq.commit;

import io.gameq.Limits;
import io.gameq.QueueFullException;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;

/**
 * Room for commits that wait for Redis, counted in commits and in bytes; more of it while Redis is
 * away and commits are journaled. Thread-safe.
 */
final class Admission {
  private final Limits limits;
  private final Room commits;
  private final Room bytes;
  private boolean journaling;

  /** A count of permits that can shrink below what is taken. */
  private static final class Room extends Semaphore {
    private static final long serialVersionUID = 1L;

    Room(int permits) {
      super(permits);
    }

    void shrink(int permits) {
      reducePermits(permits);
    }
  }

  Admission(Limits limits) {
    this.limits = limits;
    this.commits = new Room(limits.inFlightCommits());
    this.bytes = new Room(limits.inFlightBytes());
  }

  /** Adds the room for journaled commits, or takes it back; what is in it may stay. */
  synchronized void journaling(boolean now) {
    if (now && !journaling) {
      commits.release(limits.journalCommits());
      bytes.release(limits.journalBytes());
    } else if (!now && journaling) {
      commits.shrink(limits.journalCommits());
      bytes.shrink(limits.journalBytes());
    }
    journaling = now;
  }

  /**
   * Takes room for one commit, or waits for it. Throws {@link QueueFullException} when there was
   * none in time; then nothing is taken.
   */
  void enter(int commitBytes, long deadlineNanos) {
    take(commits, 1, deadlineNanos, "commits");
    try {
      take(bytes, commitBytes, deadlineNanos, "bytes");
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
            ("more %s of this node wait for Redis than %s allow, and none left within %s"
                    + " ms: Redis is slow or away, or the limit is too low")
                .formatted(what, limit(what), limits.admissionMillis()));
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new QueueFullException(
          "interrupted while waiting for room in the queue; nothing was committed");
    }
  }

  private synchronized String limit(String what) {
    boolean ofCommits = what.equals("commits");
    String inFlight =
        "maxInFlight's " + (ofCommits ? limits.inFlightCommits() : limits.inFlightBytes());
    return journaling
        ? inFlight
            + " and maxJournal's "
            + (ofCommits ? limits.journalCommits() : limits.journalBytes())
        : inFlight;
  }

  /** How many commits are in. */
  synchronized long commits() {
    return Math.max(0, mostCommits() - commits.availablePermits());
  }

  /** How much of the room is in use, 0 to 1, of commits or of bytes, whichever has less left. */
  synchronized double used() {
    double most = (double) limits.inFlightBytes() + (journaling ? limits.journalBytes() : 0);
    return Math.max(
        commits() / (double) mostCommits(), Math.max(0, 1 - bytes.availablePermits() / most));
  }

  private long mostCommits() {
    return (long) limits.inFlightCommits() + (journaling ? limits.journalCommits() : 0);
  }

  void leave(int commitBytes) {
    leave(1, commitBytes);
  }

  /** So many commits at once: each release slows down the threads of the game that enter. */
  void leave(int howMany, int theirBytes) {
    bytes.release(theirBytes);
    commits.release(howMany);
  }
}
