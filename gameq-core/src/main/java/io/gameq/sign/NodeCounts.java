package io.gameq.sign;

import io.gameq.CommitUnknownException;
import io.gameq.OwnershipLostException;
import io.gameq.PushBackException;
import io.gameq.QueueFullException;
import io.gameq.RedisFullException;
import io.gameq.RedisUnavailableException;
import io.gameq.WalException;
import io.gameq.WalFullException;
import java.util.EnumMap;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.atomic.LongAdder;

/**
 * What a node did since it started. Thread-safe: whoever does it counts it, and to count costs some
 * nanoseconds; a sum that is read meanwhile may miss what is being counted.
 */
public final class NodeCounts {
  private final Map<CommitOutcome, LongAdder> commits = new EnumMap<>(CommitOutcome.class);
  private final LongAdder rows = new LongAdder();
  private final LongAdder merged = new LongAdder();
  private final LongAdder journaled = new LongAdder();
  private final LongAdder sessionsLost = new LongAdder();
  private final LongAdder conflicts = new LongAdder();
  private final LongAdder heals = new LongAdder();
  private final LongAdder replayed = new LongAdder();
  private volatile long healedMillis;
  private volatile CommitTimes times = CommitTimes.NOBODY;

  public NodeCounts() {
    for (CommitOutcome outcome : CommitOutcome.values()) {
      commits.put(outcome, new LongAdder());
    }
  }

  // --- commits

  /** The WAL has a commit, of which Redis knows nothing yet. */
  public void wentIntoWal() {
    journaled.increment();
  }

  /**
   * Redis has commits, which the WAL had.
   *
   * @param ofRows how many they changed
   */
  public void queued(int howMany, long ofRows) {
    of(CommitOutcome.QUEUED).add(howMany);
    rows.add(ofRows);
    journaled.add(-howMany);
  }

  /** Redis has not got a commit, or nobody knows. */
  public void failed(RuntimeException reason, boolean wasJournaled) {
    of(CommitOutcome.of(reason)).increment();
    if (wasJournaled) {
      journaled.decrement();
    }
  }

  /** A commit was not taken. */
  public void notTaken(RuntimeException reason) {
    failed(reason, false);
  }

  /** Rows of a commit that replaced ones which waited for MySQL. */
  public void merged(int ofRows) {
    if (ofRows > 0) {
      merged.add(ofRows);
    }
  }

  private LongAdder of(CommitOutcome outcome) {
    return commits.getOrDefault(outcome, journaled); // there is one for each
  }

  /** Commits that ended so. */
  public long commits(CommitOutcome outcome) {
    return of(outcome).sum();
  }

  /** Rows that Redis was given, each time that one was committed. */
  public long rows() {
    return rows.sum();
  }

  /** Of these, those that replaced one which waited: they cost MySQL nothing. */
  public long merged() {
    return merged.sum();
  }

  /** Commits that the WAL has and Redis has not answered for. */
  public long journaled() {
    return Math.max(0, journaled.sum());
  }

  // --- sessions and healings

  public void sessionLost() {
    sessionsLost.increment();
  }

  /** Sessions whose owner another session took over while they were open here. */
  public long sessionsLost() {
    return sessionsLost.sum();
  }

  public void conflicts(int ofRows) {
    conflicts.add(ofRows);
  }

  /** Rows that were reported as lost. */
  public long conflicts() {
    return conflicts.sum();
  }

  /** The node has healed; {@code records} of the WAL were sent to Redis again. */
  public void healed(long records) {
    replayed.add(records);
    healedMillis = System.currentTimeMillis();
    heals.increment();
  }

  public long heals() {
    return heals.sum();
  }

  /** When the node healed last, ms since 1970; 0 when it never had to. */
  public long healedMillis() {
    return healedMillis;
  }

  /** Records of the WAL that were sent to Redis again, by all healings. */
  public long replayed() {
    return replayed.sum();
  }

  // --- times

  /** Who is told how long commits take. */
  public CommitTimes times() {
    return times;
  }

  /** From now on this one is told, and none that was before. */
  public void tellTimes(CommitTimes to) {
    times = to;
  }

  /**
   * Is told how long commits took, of one in eight; called on threads that everything waits for, so
   * it must be quick and must not throw. Thread-safe.
   */
  public interface CommitTimes {
    /** Tells nobody. */
    CommitTimes NOBODY =
        new CommitTimes() {
          @Override
          public void queued(long nanos) {}

          @Override
          public void durable(long nanos) {}
        };

    /** Redis has a commit, so long after the game committed it. */
    void queued(long nanos);

    /** MySQL has a commit, but for rows that it refused, so long after the game committed it. */
    void durable(long nanos);
  }

  /** What became of a commit, as far as Redis. */
  public enum CommitOutcome {
    /** Redis has it. */
    QUEUED,

    /** Another session owns. */
    OWNERSHIP_LOST,

    /** It was not taken: too much waits for Redis. */
    QUEUE_FULL,

    /** It was not taken: too much waits for MySQL. */
    PUSHED_BACK,

    /** It was not taken, or not sent: Redis is away. */
    REDIS_AWAY,

    /** Redis is at maxmemory. */
    REDIS_FULL,

    /** The WAL has no room, or cannot be written. */
    WAL_REFUSED,

    /** Nobody knows. */
    UNKNOWN,

    /** Anything else, such as a commit beyond the limits. */
    REFUSED;

    /** Of a commit that did not get to Redis. */
    static CommitOutcome of(RuntimeException reason) {
      if (reason instanceof CommitUnknownException) {
        return UNKNOWN;
      }
      if (reason instanceof OwnershipLostException) {
        return OWNERSHIP_LOST;
      }
      if (reason instanceof QueueFullException) {
        return QUEUE_FULL;
      }
      if (reason instanceof PushBackException) {
        return PUSHED_BACK;
      }
      if (reason instanceof RedisFullException) {
        return REDIS_FULL;
      }
      if (reason instanceof RedisUnavailableException) {
        return REDIS_AWAY;
      }
      return reason instanceof WalFullException || reason instanceof WalException
          ? WAL_REFUSED
          : REFUSED;
    }

    /** As it stands in a tag of a meter. */
    public String tag() {
      return name().toLowerCase(Locale.ROOT);
    }
  }
}
