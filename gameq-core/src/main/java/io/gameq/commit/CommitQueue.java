package io.gameq.commit;

import io.gameq.ClosedException;
import io.gameq.GameQueueException;
import io.gameq.QueueFullException;
import io.gameq.RedisUnavailableException;
import io.gameq.change.Commit;
import io.gameq.config.WhenRedisIsAway;
import io.gameq.topic.Limits;
import java.nio.file.Path;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What other threads hand to a sender: commits, as far as there is room; tasks; and the order to
 * stop. There is more room while Redis is away and commits are journaled. Thread-safe.
 */
final class CommitQueue {
  private static final Logger LOG = LoggerFactory.getLogger(CommitQueue.class);

  private final Limits limits;
  private final WhenRedisIsAway policy;
  private final Path wal;
  private final Consumer<Throwable> onDeath;
  private final Room commits;
  private final Room bytes;
  private boolean journaling;
  private final Queue<Commit> waiting = new ConcurrentLinkedQueue<>();
  private final Queue<Runnable> tasks = new ConcurrentLinkedQueue<>();

  /** Questions that are not answered yet. */
  private final Set<CompletableFuture<?>> asked = ConcurrentHashMap.newKeySet();

  private volatile @Nullable Long awaySinceNanos;
  private volatile boolean stopping;
  private volatile boolean abandoned;
  private volatile boolean ended;
  private volatile @Nullable Throwable death;

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

  /**
   * An empty one.
   *
   * @param wal named when the sender dies
   * @param onDeath is told what the sender died of
   */
  CommitQueue(Limits limits, WhenRedisIsAway policy, Path wal, Consumer<Throwable> onDeath) {
    this.limits = limits;
    this.policy = policy;
    this.wal = wal;
    this.onDeath = onDeath;
    this.commits = new Room(limits.inFlightCommits());
    this.bytes = new Room(limits.inFlightBytes());
  }

  // --- commits

  /** Takes a commit in; throws as {@link CommitSender#submit}. */
  void add(Commit commit, long deadlineNanos) {
    if (death != null) {
      throw whyNot();
    }
    RedisUnavailableException refusal = refusal();
    if (refusal != null) {
      throw refusal;
    }
    take(commits, 1, deadlineNanos, "commits");
    try {
      take(bytes, commit.bytes(), deadlineNanos, "bytes");
    } catch (QueueFullException e) {
      commits.release();
      throw e;
    }
    waiting.add(commit);
    if ((stopping || ended)
        && waiting.remove(commit)) { // else the sender has taken it and will answer
      leave(1, commit.bytes());
      throw whyNot();
    }
    refusal = failsWhileAway() ? refusal() : null;
    if (refusal != null && waiting.remove(commit)) {
      leave(1, commit.bytes());
      throw refusal;
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

  /** Commits that the sender has not taken; the game takes some back as well. */
  Queue<Commit> waiting() {
    return waiting;
  }

  /** So many commits have an answer: each release slows down the threads that add. */
  void leave(int howMany, int theirBytes) {
    bytes.release(theirBytes);
    commits.release(howMany);
  }

  /** Commits that were taken over and have no answer. */
  synchronized long commits() {
    return Math.max(0, mostCommits() - commits.availablePermits());
  }

  /** How much of the room is in use, 0 to 1: of commits or of bytes, whichever has less left. */
  synchronized double roomUsed() {
    double most = (double) limits.inFlightBytes() + (journaling ? limits.journalBytes() : 0);
    return Math.max(
        commits() / (double) mostCommits(), Math.max(0, 1 - bytes.availablePermits() / most));
  }

  private long mostCommits() {
    return (long) limits.inFlightCommits() + (journaling ? limits.journalCommits() : 0);
  }

  // --- Redis is away

  void redisIsAway() {
    awaySinceNanos = System.nanoTime();
    journaling(!failsWhileAway());
  }

  void redisIsBack() {
    awaySinceNanos = null;
    journaling(false);
  }

  /** Adds the room for journaled commits, or takes it back; what is in it may stay. */
  private synchronized void journaling(boolean now) {
    if (now && !journaling) {
      commits.release(limits.journalCommits());
      bytes.release(limits.journalBytes());
    } else if (!now && journaling) {
      commits.shrink(limits.journalCommits());
      bytes.shrink(limits.journalBytes());
    }
    journaling = now;
  }

  /** Whether commits fail at once while Redis is away. */
  boolean failsWhileAway() {
    return policy == WhenRedisIsAway.FAIL;
  }

  /** Why a commit is not taken now; null when it is. */
  private @Nullable RedisUnavailableException refusal() {
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

  // --- tasks, which the sender runs between two groups of commits

  void addTask(Runnable task) {
    tasks.add(task);
  }

  /** Answers are failed once the sender has ended. */
  void asked(CompletableFuture<?> answer) {
    asked.add(answer);
    if (ended) {
      answer.completeExceptionally(whyNot());
    }
  }

  @SuppressWarnings("CollectionUndefinedEquality") // identity is meant
  void answered(CompletableFuture<?> answer) {
    asked.remove(answer);
  }

  boolean hasNoTasks() {
    return tasks.isEmpty();
  }

  /** Runs what waits; returns how much that was. Called by the sender. */
  int runTasks() {
    int done = 0;
    for (Runnable task; (task = tasks.poll()) != null; done++) {
      task.run();
    }
    return done;
  }

  // --- the end

  /** Nothing new is taken; what was taken is still sent. */
  void stop() {
    stopping = true;
  }

  boolean isStopping() {
    return stopping;
  }

  /** Nothing is sent any more. */
  void abandon() {
    abandoned = true;
  }

  boolean isAbandoned() {
    return abandoned;
  }

  /** The sender met an error that nothing helps against. */
  void died(Throwable cause) {
    death = cause;
    onDeath.accept(cause);
    LOG.error(
        "the sender of this node died: it takes no further commit, and WAL {} is needed for"
            + " recovery",
        wal,
        cause);
  }

  /** What the sender died of; null when it did not. */
  @Nullable Throwable death() {
    return death;
  }

  /** The sender's thread does nothing any more: whoever still asks is answered. */
  void ended() {
    ended = true;
    asked.forEach(answer -> answer.completeExceptionally(whyNot()));
  }

  /** Why nothing is taken. */
  private GameQueueException whyNot() {
    Throwable cause = death;
    return cause == null
        ? new ClosedException("the queue is closed: open a GameQueue anew")
        : new GameQueueException(
            ("the sender of this node died (%s): close the node and start it again; what"
                    + " it had is in WAL %s")
                .formatted(cause, wal),
            cause);
  }
}
