package io.gameq.writer.flush;

import io.gameq.mysql.ErrorKind;
import io.gameq.mysql.flush.FlushPlan.Written;
import io.gameq.mysql.flush.FlushTransaction;
import io.gameq.mysql.flush.FlushTransaction.Outcome;
import io.gameq.owner.OwnerId;
import io.gameq.terminal.Shown;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.DistributionSummary;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import java.time.Duration;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import java.util.stream.Collectors;
import java.util.stream.LongStream;

/**
 * What a writer did since it started, as meters of a registry. The operators' page has the table of
 * all names. Thread-safe.
 */
public final class WriterStats {
  private static final Map<Class<? extends Outcome>, String> OUTCOME_TAGS =
      Map.of(
          FlushTransaction.Committed.class, "committed",
          FlushTransaction.Outage.class, "outage",
          FlushTransaction.Demoted.class, "demoted",
          FlushTransaction.TableRefused.class, "table_refused",
          FlushTransaction.TablesLocked.class, "tables_locked",
          FlushTransaction.Locked.class, "locked",
          FlushTransaction.Slow.class, "slow",
          FlushTransaction.Failed.class, "failed");

  private static final Duration[] STEP_BOUNDS =
      LongStream.of(1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000)
          .mapToObj(Duration::ofMillis)
          .toArray(Duration[]::new);

  private static final double[] ROWS = {1, 10, 50, 100, 200, 500, 1_000, 2_000, 5_000};

  private final MeterRegistry meters;
  private final Counter owners;
  private final Counter rows;
  private final Counter givenBack;
  private final Counter reaped;
  private final Counter deadLetters;
  private final Counter stale;
  private final Counter notOwned;
  private final DistributionSummary rowsOfFlush;
  private final Map<String, Timer> steps = new ConcurrentHashMap<>();
  private final BusyOwners busyOwners = new BusyOwners(System::nanoTime);
  private volatile long flushedMillis;

  public WriterStats(MeterRegistry meters) {
    this.meters = meters;
    owners = counter("owners", "Claims of owners that were flushed");
    rows = counter("rows", "Rows written to MySQL, deletes included");
    givenBack =
        counter("givenback", "Claims given back: an outage, a refused row, a newer session");
    reaped = counter("reaped", "Claims of other writers taken back when their lease ran out");
    deadLetters = counter("deadletters", "Rows set aside because MySQL refused them");
    stale = counter("stale", "Sessions found that committed after they had lost ownership");
    notOwned =
        counter("notowned", "Claims left unwritten because a newer session owns their owner");
    rowsOfFlush =
        DistributionSummary.builder("gameq.writer.flush.rows")
            .description("Rows of one flush transaction that committed")
            .serviceLevelObjectives(ROWS)
            .register(meters);
  }

  private Counter counter(String name, String description, String... tags) {
    return Counter.builder("gameq.writer." + name)
        .description(description)
        .tags(tags)
        .register(meters);
  }

  void flushed(List<Written> written) {
    owners.increment(written.size());
    int flushed = 0;
    for (Written of : written) {
      deadLetters.increment(of.setAside().size());
      int rowsOf = of.of().rows().size() + of.of().unreadable().size() - of.setAside().size();
      busyOwners.wrote(of.of().owner().base(), rowsOf);
      flushed += rowsOf;
    }
    rows.increment(flushed);
    rowsOfFlush.record(flushed);
    flushedMillis = System.currentTimeMillis();
  }

  /** What became of a flush, whether it committed or not. */
  void ended(Outcome outcome) {
    String tag = Objects.requireNonNull(OUTCOME_TAGS.get(outcome.getClass()));
    counter("flush.outcomes", "Flush transactions by what became of them", "outcome", tag)
        .increment();
  }

  /** A step of a turn took so long, whether it failed or not. */
  void tookStep(String name, long nanos) {
    steps.computeIfAbsent(name, this::timer).record(nanos, TimeUnit.NANOSECONDS);
  }

  private Timer timer(String step) {
    return Timer.builder("gameq.writer.step")
        .description("How long a step of a writer's turn took, failed ones included")
        .tag("step", step)
        .serviceLevelObjectives(STEP_BOUNDS)
        .register(meters);
  }

  /** An error that MySQL answered. */
  public void sqlError(ErrorKind kind) {
    String tag = Shown.lower(kind);
    counter("sql.errors", "Errors that MySQL answered, by what helps against them", "kind", tag)
        .increment();
  }

  /** Claims whose owner another session had opened: their rows are not written. */
  void notOwned(int claims) {
    notOwned.increment(claims);
  }

  void foundStale() {
    stale.increment();
  }

  void gaveBack(int claims) {
    givenBack.increment(claims);
  }

  void reaped(int claims) {
    reaped.increment(claims);
  }

  /** Flush transactions committed. */
  public long flushes() {
    return rowsOfFlush.count();
  }

  /** When the last one was committed, ms since 1970; 0 for never. */
  public long flushedMillis() {
    return flushedMillis;
  }

  public BusyOwners busyOwners() {
    return busyOwners;
  }

  /** Claims of owners that were flushed. */
  public long owners() {
    return (long) owners.count();
  }

  /** Rows written to MySQL, deletes included. */
  public long rows() {
    return (long) rows.count();
  }

  /** Claims given back unflushed: an outage, a refused row, a newer session. */
  public long givenBack() {
    return (long) givenBack.count();
  }

  /** Claims of other writers taken back when their lease ran out. */
  public long reaped() {
    return (long) reaped.count();
  }

  /** Rows set aside because MySQL refused them. */
  public long deadLetters() {
    return (long) deadLetters.count();
  }

  /** Sessions that committed after they had lost ownership: their rows are kept, not flushed. */
  public long stale() {
    return (long) stale.count();
  }

  @Override
  public String toString() {
    return ("flushes %s, owners %s, rows %s, given back %s, reaped %s, dead letters %s,"
            + " stale sessions %s")
        .formatted(flushes(), owners(), rows(), givenBack(), reaped(), deadLetters(), stale());
  }

  /**
   * The owners of which a writer wrote most rows in the last whole minute: who is hot. Thread-safe.
   */
  public static final class BusyOwners {
    /** Owners that come later in a minute are not counted: the busy ones come soon. */
    static final int MOST_COUNTED = 20_000;

    private static final int MOST_NAMED = 3;
    private static final long MINUTE_NANOS = TimeUnit.MINUTES.toNanos(1);

    private final LongSupplier nanos;
    private final Map<OwnerId, Long> counted = new HashMap<>();
    private String before = "";
    private long since;

    BusyOwners(LongSupplier nanos) {
      this.nanos = nanos;
      this.since = nanos.getAsLong();
    }

    synchronized void wrote(OwnerId owner, int rows) {
      turn();
      if (counted.size() < MOST_COUNTED || counted.containsKey(owner)) {
        counted.merge(owner, (long) rows, Long::sum);
      }
    }

    /** A line for each, the busiest first: rows, a blank, the owner. Empty when nobody was. */
    public synchronized String lastMinute() {
      turn();
      return before;
    }

    private void turn() {
      long passed = nanos.getAsLong() - since;
      if (passed >= MINUTE_NANOS) {
        before = passed < 2 * MINUTE_NANOS ? lines(counted) : ""; // else the last one was idle
        counted.clear();
        since += passed;
      }
    }

    /** The busiest of all that several writers named, as each names its own. */
    public static String together(List<String> named) {
      Map<String, Long> all = new HashMap<>();
      named.stream()
          .flatMap(String::lines)
          .map(line -> line.split(" ", 2))
          .filter(words -> words.length == 2 && words[0].matches("\\d{1,15}"))
          .forEach(words -> all.merge(words[1], Long.parseLong(words[0]), Long::sum));
      return lines(all);
    }

    private static String lines(Map<?, Long> rows) {
      return rows.entrySet().stream()
          .sorted(Map.Entry.comparingByValue(Comparator.reverseOrder()))
          .limit(MOST_NAMED)
          .map(of -> of.getValue() + " " + of.getKey())
          .collect(Collectors.joining("\n"));
    }
  }
}
