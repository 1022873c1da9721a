package io.gameq.writer.flush;

import io.gameq.agent.RepeatedWarnings;
import io.gameq.owner.OwnerId;
import io.gameq.redis.Backoff;
import io.gameq.terminal.Shown;
import io.gameq.writer.pause.Pauses;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What blocks the flushes of a writer: an outage of MySQL, tables, owners, and operators' pauses.
 * Thread-safe.
 *
 * @param pauses what operators paused
 */
public record FlushBlockers(
    OutageBreaker mysql, ParkedTables tables, SlowOwners owners, Supplier<Pauses> pauses) {
  /** Bounds both the statements that fail in vain and the delay once a table is mended. */
  static final long RETRY_MILLIS = 5_000;

  /**
   * Nothing is blocked yet.
   *
   * @param answers whether MySQL answers: asks it
   * @param pauses what operators paused
   */
  public FlushBlockers(BooleanSupplier answers, Supplier<Pauses> pauses) {
    this(new OutageBreaker(answers), new ParkedTables(), new SlowOwners(), pauses);
  }

  /** Whether what a row refers to may be held back, by operators or since it does not fit. */
  boolean holdSomeBack() {
    return pauses.get().holdSomeBack() || tables.keepsSome();
  }

  /**
   * Whether MySQL takes flushes. While it does not, nothing is claimed and rows go on merging in
   * Redis; one thread at a time asks MySQL whether it is back. Thread-safe.
   */
  public static final class OutageBreaker {
    private static final Logger LOG = LoggerFactory.getLogger(OutageBreaker.class);

    private static final int MOST_HELD_UP = 8;

    private final BooleanSupplier probe;
    private final Backoff backoff = new Backoff(100, 5_000);
    private int heldUp; // in a row
    private boolean closed;
    private boolean probing;
    private boolean hasPassed = true; // since it was closed
    private long closedNanos;
    private long probeAtNanos;

    /**
     * A gate that is open.
     *
     * @param probe whether MySQL answers
     */
    public OutageBreaker(BooleanSupplier probe) {
      this.probe = probe;
    }

    /** A flush failed because MySQL is away; returns how long to wait, ms. */
    public synchronized long close(String reason) {
      long wait = backoff.nextMillisWithJitter();
      if (!closed) {
        closed = true;
        if (hasPassed) { // else it is the same outage still
          closedNanos = System.nanoTime();
          hasPassed = false;
        }
        LOG.warn(
            "MySQL is away ({}): rows stay in Redis, asking again in {}",
            reason,
            Shown.duration(wait));
      }
      probeAtNanos = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(wait);
      return wait;
    }

    /** Whether nothing is claimed, because MySQL is away. */
    public synchronized boolean isClosed() {
      return closed;
    }

    /** For how long MySQL has been away, s; 0 while it is there. */
    public synchronized double awaySeconds() {
      return closed ? seconds(System.nanoTime() - closedNanos) : 0;
    }

    /** How long until MySQL is asked again, s; 0 while it is there. */
    public synchronized double backoffSeconds() {
      return closed ? Math.max(0, seconds(probeAtNanos - System.nanoTime())) : 0;
    }

    private static double seconds(long nanos) {
      return (double) nanos / TimeUnit.SECONDS.toNanos(1);
    }

    /** Whether MySQL answers now: asks it. */
    boolean answers() {
      return probe.getAsBoolean();
    }

    /** A flush committed. */
    synchronized void passed() {
      heldUp = 0;
      hasPassed = true;
      backoff.reset();
    }

    /** A flush was held up though MySQL answers: when none passes, MySQL is slow or locked. */
    synchronized void heldUp(String reason) {
      if (++heldUp >= MOST_HELD_UP) {
        heldUp = 0;
        close(reason);
      }
    }

    /** How long to wait before the next claim, ms; 0 when MySQL takes flushes. May ask MySQL. */
    public long waitMillis() {
      synchronized (this) {
        if (!closed) {
          return 0;
        }
        long left = TimeUnit.NANOSECONDS.toMillis(probeAtNanos - System.nanoTime());
        if (left > 0 || probing) {
          return Math.max(100, left);
        }
        probing = true;
      }
      boolean answers = false;
      try {
        answers = probe.getAsBoolean();
      } finally {
        probed(answers);
      }
      return answers ? 0 : 100;
    }

    private synchronized void probed(boolean answers) {
      probing = false;
      if (answers) {
        closed = false;
        LOG.info(
            "MySQL answers again after {} s",
            TimeUnit.NANOSECONDS.toSeconds(System.nanoTime() - closedNanos));
      } else {
        close("no answer");
      }
    }
  }

  /**
   * Tables that take no rows for a while: they or a column are missing, somebody has locked them,
   * or MySQL refuses most of their rows. Their rows stay in Redis, rows of other tables go on.
   * Thread-safe.
   */
  public static final class ParkedTables {
    private static final long RETRY_NANOS = TimeUnit.MILLISECONDS.toNanos(RETRY_MILLIS);

    private static final Logger LOG = LoggerFactory.getLogger(ParkedTables.class);

    private final RepeatedWarnings complaints = new RepeatedWarnings(60);
    private final Map<String, Rejection> parked = new ConcurrentHashMap<>();

    /** Tables of which single rows wait: they are met again at the next try. */
    private final Map<String, Rejection> misfits = new ConcurrentHashMap<>();

    private record Rejection(String reason, long sinceNanos) {
      Rejection(String reason) {
        this(reason, System.nanoTime());
      }

      boolean isWithin(long nanos) {
        return System.nanoTime() - sinceNanos < nanos;
      }
    }

    /** Rows of a table wait, others may pass: says why, now and then. */
    void keepSome(String table, String reason) {
      misfits.put(table, new Rejection(reason));
      complain(table, reason);
    }

    /** Whether rows of any table wait. */
    boolean keepsSome() {
      return misfits.values().stream().anyMatch(of -> of.isWithin(3 * RETRY_NANOS));
    }

    /** Whether rows of these tables were found not to fit within the last few seconds. */
    boolean keptLately(Collection<String> tables) {
      return tables.stream()
          .map(misfits::get)
          .allMatch(of -> of != null && of.isWithin(RETRY_NANOS));
    }

    private void complain(String table, String reason) {
      complaints.about(
          table,
          LOG::error,
          () ->
              ("table %s does not take these rows (%s): they stay in Redis and are tried again"
                      + " every %s")
                  .formatted(table, reason, Shown.duration(RETRY_MILLIS)));
    }

    void park(String table, String reason) {
      complain(table, reason);
      parked.put(table, new Rejection(reason));
    }

    /** A flush wrote into these tables. */
    void passed(Collection<String> tables) {
      parked.keySet().removeAll(tables);
    }

    /** Those that take no rows now, or not all, each with why. */
    public Map<String, String> reasons() {
      Map<String, String> all = new TreeMap<>();
      misfits.values().removeIf(of -> !of.isWithin(3 * RETRY_NANOS));
      misfits.forEach((table, of) -> all.put(table, of.reason));
      parked.forEach((table, of) -> all.put(table, of.reason));
      return all;
    }

    boolean isEmpty() {
      return parked.isEmpty();
    }

    /** What holds for one batch, whose rows of a table all wait or none does. */
    ParkedView now() {
      return new ParkedView();
    }

    /** Used by one thread. */
    final class ParkedView {
      private final Map<String, Boolean> known = new HashMap<>();

      /** Of a row's own table. */
      boolean isParked(String table) {
        return known.computeIfAbsent(table, ParkedTables.this::isParked);
      }

      /** Of a table that it refers to, which is tried by rows of its own only. */
      boolean isParentParked(String table) {
        return known.computeIfAbsent(table, ParkedTables.this::isWithinItsTime);
      }
    }

    private boolean isWithinItsTime(String table) {
      Rejection of = parked.get(table);
      return of != null && of.isWithin(RETRY_NANOS);
    }

    /** Once the time is over, one who asks may try for all others, for whom it stays parked. */
    private boolean isParked(String table) {
      Rejection of = parked.get(table);
      return of != null
          && (of.isWithin(RETRY_NANOS) || !parked.replace(table, of, new Rejection(of.reason)));
    }
  }

  /**
   * Owners that may delay all who are flushed with them: one of their rows is locked, or takes
   * MySQL long. They are flushed apart until a flush of theirs commits. Thread-safe.
   */
  static final class SlowOwners {
    /** Who is forgotten for want of room is found again by the next flush that he holds up. */
    private static final int MOST = 10_000;

    private final Map<OwnerId, SlowOwner> slow =
        new LinkedHashMap<>() {
          @Override
          protected boolean removeEldestEntry(Map.Entry<OwnerId, SlowOwner> eldest) {
            return size() > MOST;
          }
        };

    private static final class SlowOwner {
      private final Backoff lockWaits = new Backoff(500, 16_000);
      private int breaks;
      private long notBeforeNanos = System.nanoTime();
    }

    private SlowOwner of(OwnerId owner) {
      return slow.computeIfAbsent(owner, one -> new SlowOwner());
    }

    /** He was in a flush that was held up. */
    synchronized void add(OwnerId owner) {
      SlowOwner unused = of(owner);
    }

    synchronized boolean contains(OwnerId owner) {
      return slow.containsKey(owner);
    }

    /** He was flushed. */
    synchronized void remove(OwnerId owner) {
      slow.remove(owner);
    }

    /** He waited for a lock in vain; returns how long to leave him alone, ms: 16 s in the end. */
    synchronized long delayMillis(OwnerId owner) {
      SlowOwner of = of(owner);
      long delay = of.lockWaits.nextMillisWithJitter();
      of.notBeforeNanos = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(delay);
      return delay;
    }

    /**
     * For how long he is still to be left alone, ms, whatever he has committed since; 0 if he is
     * not.
     */
    synchronized long pausedMillis(OwnerId owner) {
      SlowOwner of = slow.get(owner);
      return of == null
          ? 0
          : Math.max(0, TimeUnit.NANOSECONDS.toMillis(of.notBeforeNanos - System.nanoTime()));
    }

    /** How often in a row the connection broke when he was flushed alone. */
    synchronized int breaks(OwnerId owner, boolean broke) {
      SlowOwner of = of(owner);
      of.breaks = broke ? of.breaks + 1 : 0;
      return of.breaks;
    }
  }
}
