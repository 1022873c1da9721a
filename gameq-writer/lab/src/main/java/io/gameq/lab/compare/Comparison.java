package io.gameq.lab.compare;

import com.fasterxml.jackson.core.type.TypeReference;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.gameq.lab.contender.ContenderSetup;
import io.gameq.lab.contender.ContenderType;
import io.gameq.lab.contender.ContenderType.Holds;
import io.gameq.lab.contender.ContenderType.Trait;
import io.gameq.lab.contender.redis.RawRedis;
import io.gameq.lab.mysql.StoredRows;
import io.gameq.lab.redis.RedisMemory;
import io.gameq.lab.report.BenchResult;
import io.gameq.lab.report.Figures;
import io.gameq.lab.workload.Model;
import io.gameq.lab.workload.Workload;
import java.io.IOException;
import java.io.PrintWriter;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;

/** Runs contenders one after the other, each in a fresh child process. One thread. */
final class Comparison {
  private static final int LEAST_KILL_MILLIS = 3_000;
  private static final int MOST_KILL_MILLIS = 6_000;

  /** Before a kill; later players log in as they come. */
  private static final long ACTIONS_LOGGED_IN = 20_000;

  /** Longer than the lease of a writer that was killed, and than it takes to notice. */
  private static final long QUIET_MILLIS = 10_000;

  /** A transaction that the kill cut off is rolled back by then. */
  private static final long HEAP_QUIET_MILLIS = 1_000;

  private static final long MOST_RECOVERY_MILLIS = 600_000;
  private static final long POLL_MILLIS = 250;

  private static final List<String> TABLES =
      List.of(
          Workload.PEER_TABLE,
          Workload.TABLE,
          "gameq_owner",
          "gameq_tombstone",
          "gameq_dead_letter");

  private final CompareOptions options;
  private final ContenderSetup setup;
  private final StoredRows rows;
  private final RedisMemory redis;
  private final Output output;
  private final ObjectMapper json = new ObjectMapper();

  /** Where what was measured goes. */
  record Output(BenchResult result, PrintWriter err) {}

  Comparison(
      CompareOptions options,
      ContenderSetup setup,
      StoredRows rows,
      RedisMemory redis,
      Output output) {
    this.options = options;
    this.setup = setup;
    this.rows = rows;
    this.redis = redis;
    this.output = output;
  }

  /** All rounds, contender after contender in each, then the kills likewise. */
  void run() throws IOException, InterruptedException {
    List<ContenderType> all = options.contenders();
    for (int round = 1; round <= options.rounds(); round++) {
      for (ContenderType type : all) {
        if (type.is(Trait.LIMIT)) {
          measure(type, RawRedis.COMMITS_IN_FLIGHT, round);
          continue;
        }
        measure(type, 1, round);
        if (options.inFlight() > 1 && type.is(Trait.ASYNCHRONOUS)) {
          measure(type, options.inFlight(), round);
        }
      }
    }
    for (int kill = 1; kill <= options.kills(); kill++) {
      for (ContenderType type : all) {
        if (!type.is(Trait.LIMIT)) {
          kill(type, kill);
        }
      }
    }
  }

  private void measure(ContenderType type, int inFlight, int round)
      throws IOException, InterruptedException {
    empty();
    String part = ComparisonTable.part(type.name(), inFlight);
    ChildJob job =
        new ChildJob(
            ChildJob.Mode.MEASURE,
            type.name(),
            inFlight,
            options.actions(),
            options.warmUpActions(),
            setupOf(type));
    Figures figures = output.result().figures();
    try (ChildProcess child = new ChildProcess(job, options.heap())) {
      String line = child.line();
      while (line.equals(ContenderChild.RUNNING)) {
        line = child.line();
      }
      figures.add(part, json.readValue(line, new TypeReference<List<Figures.Value>>() {}));
    }
    String found = "ends at Redis";
    if (!type.is(Trait.REDIS_ALONE)) {
      Workload workload = new Workload(job.setup().shape());
      Model.Result check =
          rows.check(type.table(), Model.afterActions(workload, job.actionsPerThread()));
      note(part, check);
      output.result().check("%s, round %d".formatted(part, round), check);
      found = describe(check);
    }
    List<Double> accepted = figures.get(part, "row changes").values();
    say(
        "round %d  %-24s accepted %,9.0f/s  %s",
        round, part, accepted.get(accepted.size() - 1), found);
  }

  /** Limits have one game thread. */
  private ContenderSetup setupOf(ContenderType type) {
    return type.is(Trait.LIMIT)
        ? new ContenderSetup(
            setup.shape().withThreads(1), setup.tuning(), setup.place(), setup.recovers())
        : setup;
  }

  private void note(String part, Model.Result check) {
    Figures figures = output.result().figures();
    figures.add(part, "lost changes", "", (double) check.lostChanges());
    figures.add(part, "lost rows", "", (double) check.lostRows());
    figures.add(part, "torn actions", "", (double) check.tornActions());
  }

  private static String describe(Model.Result check) {
    return check.isFlawless()
        ? "MySQL holds everything"
        : "LOST %,d changes, %,d rows older than they should be, %,d torn actions, %,d damaged rows"
            .formatted(
                check.lostChanges(), check.lostRows(), check.tornActions(), check.damagedRows());
  }

  private void say(String format, Object... values) {
    output.err().println(String.format(Locale.ROOT, format, values));
  }

  private void kill(ContenderType type, int number) throws IOException, InterruptedException {
    empty();
    int afterMillis = ThreadLocalRandom.current().nextInt(LEAST_KILL_MILLIS, MOST_KILL_MILLIS);
    AcknowledgedFile.delete(setup.place().path());
    ChildJob job =
        new ChildJob(
            ChildJob.Mode.BE_KILLED,
            type.name(),
            1,
            ACTIONS_LOGGED_IN,
            options.warmUpActions(),
            setup);
    try (ChildProcess child = new ChildProcess(job, options.heap())) {
      var unused = child.line();
      TimeUnit.MILLISECONDS.sleep(afterMillis);
      child.kill();
    }
    long[] acknowledged =
        AcknowledgedFile.open(setup.place().path(), setup.shape().threads()).all();
    Quiet quiet = recover(job, type);
    Model.Result check =
        rows.check(type.table(), new Model(new Workload(setup.shape()), acknowledged));
    String part = ComparisonTable.killsOf(type.name());
    Figures figures = output.result().figures();
    figures.add(part, "killed after", "ms", (double) afterMillis);
    figures.add(part, "acknowledged actions", "", (double) Arrays.stream(acknowledged).sum());
    figures.add(part, "MySQL changed until", "s", quiet.seconds());
    figures.add(part, "MySQL was quiet in the end", "of 1", quiet.settled() ? 1 : 0);
    note(part, check);
    output.result().check("%s, %d".formatted(part, number), check);
    say(
        "%-24s after %,5d ms, %,9d actions acknowledged, MySQL %s after %.1f s: %s",
        part,
        afterMillis,
        Arrays.stream(acknowledged).sum(),
        quiet.settled() ? "quiet" : "STILL CHANGING",
        quiet.seconds(),
        describe(check));
  }

  /** Until when MySQL changed; not settled: what is missing may be late rather than lost. */
  private record Quiet(double seconds, boolean settled) {}

  /** What holds its changes outside of the killed process goes on in another one. */
  private Quiet recover(ChildJob killed, ContenderType type)
      throws IOException, InterruptedException {
    if (type.holds() != Holds.IN_REDIS) {
      return awaitQuiet(type.table(), HEAP_QUIET_MILLIS);
    }
    try (ChildProcess child = new ChildProcess(killed.recovery(), options.heap())) {
      var unused = child.line();
      return awaitQuiet(type.table(), QUIET_MILLIS);
    }
  }

  /** Until the last change that was seen. */
  private Quiet awaitQuiet(String table, long quietMillis) throws InterruptedException {
    long start = System.nanoTime();
    long changedAt = start;
    StoredRows.Sum last = rows.sum(table);
    while (millisSince(changedAt) < quietMillis && millisSince(start) < MOST_RECOVERY_MILLIS) {
      TimeUnit.MILLISECONDS.sleep(POLL_MILLIS);
      StoredRows.Sum now = rows.sum(table);
      if (!now.equals(last)) {
        last = now;
        changedAt = System.nanoTime();
      }
    }
    return new Quiet((changedAt - start) / 1e9, millisSince(changedAt) >= quietMillis);
  }

  private static long millisSince(long nanos) {
    return TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - nanos);
  }

  /** The next child finds nothing of the one before. */
  private void empty() {
    rows.truncate(TABLES);
    redis.deleteMatching("*" + setup.place().name() + "*");
  }
}
