package io.gameq.lab.compare;

import io.gameq.lab.contender.ContenderSetup;
import io.gameq.lab.contender.ContenderSetup.Role;
import io.gameq.lab.contender.ContenderType;
import io.gameq.lab.contender.ContenderType.Holds;
import io.gameq.lab.contender.ContenderType.Trait;
import io.gameq.lab.load.Load;
import io.gameq.lab.mysql.StoredRows;
import io.gameq.lab.report.Figures;
import io.gameq.lab.workload.Model;
import io.gameq.lab.workload.Workload;
import java.io.IOException;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;

/**
 * Kills processes of a contender in a closed loop, and counts what is missing of what it had
 * acknowledged. One thread.
 */
final class KilledRun {
  private static final int LEAST_KILL_MILLIS = 3_000;
  private static final int MOST_KILL_MILLIS = 6_000;

  /** How long a game goes on beside the writer that took the place of a killed one. */
  private static final long PLAY_ON_MILLIS = 2_000;

  /** Longer than the lease of a writer that was killed, and than it takes to notice. */
  private static final long QUIET_MILLIS = 2 * CompareOptions.KILL_LEASE_MILLIS;

  /** A transaction that the kill cut off is rolled back by then. */
  private static final long HEAP_QUIET_MILLIS = 1_000;

  private static final long MOST_RECOVERY_MILLIS = 600_000;
  private static final long POLL_MILLIS = 250;

  private final TestBed bed;
  private final CompareOptions options;

  /** Which process is killed. */
  enum Victim {
    /** The only one. */
    PROCESS("its process"),
    /** Its writer goes on, and it is started again where that belongs to it. */
    GAME("game"),
    /** Its game goes on, and another writer takes over. */
    WRITER("writer"),
    /** Another writer takes over. */
    BOTH("game and writer");

    private final String label;

    Victim(String label) {
      this.label = label;
    }

    static List<Victim> of(ContenderType type) {
      return type.is(Trait.OWN_WRITER) ? List.of(GAME, WRITER, BOTH) : List.of(PROCESS);
    }
  }

  KilledRun(TestBed bed, CompareOptions options) {
    this.bed = bed;
    this.options = options;
  }

  void run(ContenderType type, Victim victim, int number) throws IOException, InterruptedException {
    ContenderSetup setup = bed.emptied();
    ContenderSetup quicker = setup.with(setup.tuning().withLease(CompareOptions.KILL_LEASE_MILLIS));
    ChildJob job =
        new ChildJob(
            ChildJob.Mode.PLAY,
            type.name(),
            Load.Pace.closedLoop(0),
            0,
            options.warmUpSeconds(),
            quicker);
    int afterMillis = ThreadLocalRandom.current().nextInt(LEAST_KILL_MILLIS, MOST_KILL_MILLIS);
    Quiet quiet =
        victim == Victim.PROCESS
            ? killOnly(job, type, afterMillis)
            : killOneOfTwo(job, type, victim, afterMillis);
    long[] acknowledged =
        AcknowledgedFile.open(setup.place().path(), setup.shape().threads()).all();
    String part = ComparisonTable.killsOf(type.name(), victim.label);
    long actions = Arrays.stream(acknowledged).sum();
    Figures figures = bed.figures();
    figures.add(part, "killed after", "ms", (double) afterMillis);
    figures.add(part, "acknowledged actions", "", (double) actions);
    figures.add(part, "MySQL changed until", "s", quiet.seconds());
    figures.add(part, "MySQL was quiet in the end", "of 1", quiet.settled() ? 1 : 0);
    String found =
        bed.check(
            type,
            part,
            "%s, %s".formatted(part, number),
            new Model(new Workload(setup.shape()), acknowledged));
    bed.say(
        "%-34s after %,5d ms, %,9d actions acknowledged, MySQL %s after %.1f s: %s",
        part,
        afterMillis,
        actions,
        quiet.settled() ? "quiet" : "STILL CHANGING",
        quiet.seconds(),
        found);
  }

  /** What holds its changes outside of the killed process goes on in another one. */
  private Quiet killOnly(ChildJob job, ContenderType type, int afterMillis)
      throws IOException, InterruptedException {
    try (ChildProcess game = new ChildProcess(job, options.heap())) {
      game.awaitRunning();
      TimeUnit.MILLISECONDS.sleep(afterMillis);
      game.kill();
    }
    if (type.holds() != Holds.IN_REDIS) {
      return awaitQuiet(type.table(), HEAP_QUIET_MILLIS);
    }
    try (ChildProcess next = takeOver(job, Role.WRITER)) {
      return awaitQuiet(type.table(), QUIET_MILLIS);
    }
  }

  private Quiet killOneOfTwo(ChildJob job, ContenderType type, Victim victim, int afterMillis)
      throws IOException, InterruptedException {
    try (ChildProcess writer =
            new ChildProcess(job.as(Role.WRITER, ChildJob.Mode.WRITE), options.heap());
        ChildProcess game = new ChildProcess(job, options.heap())) {
      writer.awaitRunning();
      game.awaitRunning();
      TimeUnit.MILLISECONDS.sleep(afterMillis);
      if (victim != Victim.WRITER) {
        game.kill();
      }
      if (victim != Victim.GAME) {
        writer.kill();
      }
      boolean startsAgain = victim != Victim.WRITER && type.is(Trait.STARTS_AGAIN);
      try (ChildProcess nextWriter = victim == Victim.GAME ? null : takeOver(job, Role.WRITER);
          ChildProcess nextGame = startsAgain ? takeOver(job, Role.GAME) : null) {
        if (victim == Victim.WRITER) {
          TimeUnit.MILLISECONDS.sleep(PLAY_ON_MILLIS);
          game.tell(ContenderChild.NEXT);
          game.awaitEnd();
        }
        return awaitQuiet(type.table(), QUIET_MILLIS);
      }
    }
  }

  private ChildProcess takeOver(ChildJob job, Role role) throws IOException, InterruptedException {
    ChildProcess next = new ChildProcess(job.as(role, ChildJob.Mode.TAKE_OVER), options.heap());
    try {
      next.awaitRunning();
      return next;
    } catch (IOException | InterruptedException | RuntimeException e) {
      next.close();
      throw e;
    }
  }

  /** Until when MySQL changed; not settled: what is missing may be late rather than lost. */
  private record Quiet(double seconds, boolean settled) {}

  /** Until the last change that was seen. */
  private Quiet awaitQuiet(String table, long quietMillis) throws InterruptedException {
    long start = System.nanoTime();
    long changedAt = start;
    StoredRows.Sum last = bed.rows().sum(table);
    while (millisSince(changedAt) < quietMillis && millisSince(start) < MOST_RECOVERY_MILLIS) {
      TimeUnit.MILLISECONDS.sleep(POLL_MILLIS);
      StoredRows.Sum now = bed.rows().sum(table);
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
}
