package io.gameq.sign;

import io.gameq.CommitUnknownException;
import io.gameq.OwnershipLostException;
import io.gameq.PushBackException;
import io.gameq.QueueFullException;
import io.gameq.RedisFullException;
import io.gameq.RedisUnavailableException;
import io.gameq.WalException;
import io.gameq.WalFullException;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.atomic.LongAdder;

/**
 * What a node did since it started. Thread-safe: whoever does it counts it, and to count costs some
 * nanoseconds; a sum that is read meanwhile may miss what is being counted.
 */
public final class NodeCounts {
  /** Rows that Redis was given, each time that one was committed. */
  public final LongAdder rows = new LongAdder();

  /** Of these, those that replaced one which waited: they cost MySQL nothing. */
  public final LongAdder merged = new LongAdder();

  /** Sessions whose owner another session took over while they were open here. */
  public final LongAdder sessionsLost = new LongAdder();

  /** Rows that were reported as lost. */
  public final LongAdder conflicts = new LongAdder();

  public final LongAdder heals = new LongAdder();

  /** Records of the WAL that were sent to Redis again, by all healings. */
  public final LongAdder replayed = new LongAdder();

  private final Map<CommitOutcome, LongAdder> commits = new EnumMap<>(CommitOutcome.class);
  private final LongAdder journaled = new LongAdder();
  private volatile long healedMillis;
  private volatile CommitTimes times = CommitTimes.NOBODY;

  public NodeCounts() {
    for (CommitOutcome outcome : CommitOutcome.values()) {
      commits.put(outcome, new LongAdder());
    }
  }

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

  private LongAdder of(CommitOutcome outcome) {
    return commits.getOrDefault(outcome, journaled); // there is one for each
  }

  /** Commits that ended so. */
  public long commits(CommitOutcome outcome) {
    return of(outcome).sum();
  }

  /** Commits that the WAL has and Redis has not answered for. */
  public long journaled() {
    return Math.max(0, journaled.sum());
  }

  /** The node has healed; {@code records} of the WAL were sent to Redis again. */
  public void healed(long records) {
    replayed.add(records);
    healedMillis = System.currentTimeMillis();
    heals.increment();
  }

  /** When the node healed last, ms since 1970; 0 when it never had to. */
  public long healedMillis() {
    return healedMillis;
  }

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
    CommitTimes NOBODY = new CommitTimes() {};

    /** Redis has a commit, so long after the game committed it. */
    default void queued(long nanos) {}

    /** MySQL has a commit, but for rows that it refused, so long after the game committed it. */
    default void durable(long nanos) {}
  }

  /** What became of a commit, as far as Redis. */
  @SuppressWarnings("ImmutableEnumChecker") // its list is unmodifiable
  public enum CommitOutcome {
    /** Redis has it. */
    QUEUED,

    /** Another session owns. */
    OWNERSHIP_LOST(OwnershipLostException.class),

    /** It was not taken: too much waits for Redis. */
    QUEUE_FULL(QueueFullException.class),

    /** It was not taken: too much waits for MySQL. */
    PUSHED_BACK(PushBackException.class),

    /** It was not taken, or not sent: Redis is away. */
    REDIS_AWAY(RedisUnavailableException.class),

    /** Redis is at maxmemory. */
    REDIS_FULL(RedisFullException.class),

    /** The WAL has no room, or cannot be written. */
    WAL_REFUSED(WalFullException.class, WalException.class),

    /** Nobody knows. */
    UNKNOWN(CommitUnknownException.class),

    /** Anything else, such as a commit beyond the limits. */
    REFUSED;

    private final List<Class<?>> reasons;

    CommitOutcome(Class<?>... reasons) {
      this.reasons = List.of(reasons);
    }

    /** Of a commit that did not get to Redis. */
    static CommitOutcome of(RuntimeException reason) {
      return Arrays.stream(values())
          .filter(of -> of.reasons.stream().anyMatch(type -> type.isInstance(reason)))
          .findFirst()
          .orElse(REFUSED);
    }

    /** As it stands in a tag of a meter. */
    public String tag() {
      return name().toLowerCase(Locale.ROOT);
    }
  }
}
