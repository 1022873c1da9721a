package io.gameq.commit;

import io.gameq.GameQueueException;
import io.gameq.QueueFullException;
import io.gameq.RedisUnavailableException;
import io.gameq.change.Commit;
import io.gameq.config.WhenRedisIsAway;
import io.gameq.topic.Limits;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The commits that other threads hand to a sender, as far as there is room. There is more room
 * while Redis is away and commits are journaled. Thread-safe.
 */
final class CommitQueue {
  /** Commits that the sender has not taken; the game takes some back as well. */
  final Queue<Commit> waiting = new ConcurrentLinkedQueue<>();

  private final Limits limits;
  private final WhenRedisIsAway policy;
  private final Room commits;
  private final Room bytes;
  private volatile @Nullable Long awaySinceNanos;
  private volatile @Nullable Supplier<GameQueueException> closed;

  /** Permits, of which there are more while commits are journaled; what is in it may stay. */
  private static final class Room extends Semaphore {
    private static final long serialVersionUID = 1L;

    private final String what;
    private final int inFlight;
    private final int journal;
    private boolean journaling;

    Room(String what, int inFlight, int journal) {
      super(inFlight);
      this.what = what;
      this.inFlight = inFlight;
      this.journal = journal;
    }

    synchronized void journaling(boolean now) {
      if (now && !journaling) {
        release(journal);
      } else if (!now && journaling) {
        reducePermits(journal);
      }
      journaling = now;
    }

    void take(int permits, long deadlineNanos, long admissionMillis) {
      try {
        if (!tryAcquire(
            permits, Math.max(0, deadlineNanos - System.nanoTime()), TimeUnit.NANOSECONDS)) {
          throw new QueueFullException(
              ("more %s of this node wait for Redis than %s allow, and none left within %s"
                      + " ms: Redis is slow or away, or the limit is too low")
                  .formatted(what, limit(), admissionMillis));
        }
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        throw new QueueFullException(
            "interrupted while waiting for room in the queue; nothing was committed");
      }
    }

    private synchronized String limit() {
      return "maxInFlight's " + inFlight + (journaling ? " and maxJournal's " + journal : "");
    }

    private long most() {
      return (long) inFlight + (journaling ? journal : 0);
    }

    synchronized long used() {
      return Math.max(0, most() - availablePermits());
    }

    synchronized double share() {
      return used() / (double) most();
    }
  }

  CommitQueue(Limits limits, WhenRedisIsAway policy) {
    this.limits = limits;
    this.policy = policy;
    this.commits = new Room("commits", limits.inFlightCommits(), limits.journalCommits());
    this.bytes = new Room("bytes", limits.inFlightBytes(), limits.journalBytes());
  }

  /** Takes a commit in; throws as {@link CommitSender#submit}. */
  void add(Commit commit, long deadlineNanos) {
    GameQueueException refusal = refusal();
    if (refusal != null) {
      throw refusal;
    }
    commits.take(1, deadlineNanos, limits.admissionMillis());
    try {
      bytes.take(commit.bytes(), deadlineNanos, limits.admissionMillis());
    } catch (QueueFullException e) {
      commits.release();
      throw e;
    }
    waiting.add(commit);
    refusal = refusal();
    if (refusal != null && waiting.remove(commit)) { // else the sender has it and will answer
      leave(1, commit.bytes());
      throw refusal;
    }
  }

  /** Why a commit is not taken now; null when it is. */
  private @Nullable GameQueueException refusal() {
    Supplier<GameQueueException> why = closed;
    if (why != null) {
      return why.get();
    }
    Long since = awaySinceNanos;
    if (since == null) {
      return null;
    }
    long millis = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - since);
    if (failsWhileAway()) {
      return new RedisUnavailableException(
          "Redis has been away for %s ms: the commit was not taken (whenRedisIsAway is FAIL)"
              .formatted(millis));
    }
    return millis <= limits.journalMillis()
        ? null
        : new RedisUnavailableException(
            ("Redis has been away for %s ms, longer than the %s ms that commits are"
                    + " journaled: the commit was not taken")
                .formatted(millis, limits.journalMillis()));
  }

  /** So many commits have an answer: each release slows down the threads that add. */
  void leave(int howMany, int theirBytes) {
    bytes.release(theirBytes);
    commits.release(howMany);
  }

  /** Commits that were taken over and have no answer. */
  long commits() {
    return commits.used();
  }

  /** The same, cheaply; too few while commits are journaled. */
  int unanswered() {
    return limits.inFlightCommits() - commits.availablePermits();
  }

  /** How much of the room is in use, 0 to 1: of commits or of bytes, whichever has less left. */
  double roomUsed() {
    return Math.max(commits.share(), bytes.share());
  }

  void redisIsAway() {
    awaySinceNanos = System.nanoTime();
    commits.journaling(!failsWhileAway());
    bytes.journaling(!failsWhileAway());
  }

  void redisIsBack() {
    awaySinceNanos = null;
    commits.journaling(false);
    bytes.journaling(false);
  }

  /** Whether commits fail at once while Redis is away. */
  boolean failsWhileAway() {
    return policy == WhenRedisIsAway.FAIL;
  }

  /** Nothing new is taken, for this reason; what was taken is still sent. */
  void close(Supplier<GameQueueException> why) {
    closed = why;
  }
}
