package io.gameq.lab.peers;

import com.fasterxml.jackson.databind.ObjectMapper;
import io.gameq.lab.bench.workload.Model;
import io.gameq.lab.bench.workload.Workload;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.TimeUnit;

/**
 * The main class of a child process: one contender, one {@link Job}, which it reads from its
 * standard input. What it has to say it writes to its standard output, a line each.
 */
public final class Child {
  /** Said before the actions begin. */
  static final String RUNNING = "running";

  /** How long MySQL may still change after the contender took everything for written. */
  private static final long STRAGGLER_MILLIS = 5_000;

  private static final long POLL_MILLIS = 50;

  private Child() {}

  public static void main(String[] args) throws Exception {
    // A thread of a contender that dies would let it wait for ever; peers leave threads behind.
    Thread.setDefaultUncaughtExceptionHandler(
        (thread, error) -> {
          error.printStackTrace();
          Runtime.getRuntime().halt(1);
        });
    run();
    System.exit(0);
  }

  private static void run() throws Exception {
    ObjectMapper json = new ObjectMapper();
    BufferedReader in =
        new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    Job job = json.readValue(Objects.requireNonNull(in.readLine()), Job.class);
    try (Contender contender = Contenders.named(job.contender()).open(job)) {
      switch (job.mode()) {
        case MEASURE -> System.out.println(json.writeValueAsString(measure(job, contender)));
        case BE_KILLED -> runUntilKilled(job, contender);
        case RECOVER -> {
          contender.recover();
          System.out.println(RUNNING);
          in.readLine();
        }
      }
    }
  }

  private static Measurement measure(Job job, Contender contender) throws Exception {
    String table = Contenders.named(job.contender()).table();
    Workload workload = new Workload(job.shape());
    long actions = job.actionsPerThread();
    try (ComparisonTables tables = new ComparisonTables(job.place())) {
      long beforePrepare = System.nanoTime();
      contender.prepare(workload, actions);
      final double prepareSeconds = (System.nanoTime() - beforePrepare) / 1e9;
      warmUp(job, contender, tables);

      long[] all = new long[job.shape().threads()];
      Arrays.fill(all, actions);
      Model model = new Model(workload, all);
      ComparisonTables.Sum expected = ComparisonTables.sumOf(model);
      long rowsBefore = contender.rowsWritten();
      System.gc();
      long gcBefore = gcMillis();

      System.out.println(RUNNING);
      PeerLoad.Taken taken =
          new PeerLoad(contender, workload, actions, job.inFlight(), (t, n) -> {}).run();
      final long gc = gcMillis() - gcBefore;
      contender.flush();
      long flushed = System.nanoTime();
      boolean isComplete = tables.sum(table).equals(expected);
      for (long waited = 0; !isComplete && waited < STRAGGLER_MILLIS; waited += POLL_MILLIS) {
        TimeUnit.MILLISECONDS.sleep(POLL_MILLIS);
        long now = System.nanoTime();
        isComplete = tables.sum(table).equals(expected);
        flushed = isComplete ? now : flushed;
      }
      long done = actions * all.length;
      return new Measurement(
          (taken.endNanos() - taken.startNanos()) / 1e9,
          (flushed - taken.startNanos()) / 1e9,
          isComplete,
          done * job.shape().rowsPerAction(),
          contender.rowsWritten() - rowsBefore,
          expected.rows(),
          Measurement.Percentiles.ofNanos(taken.latencyNanos()),
          Measurement.Percentiles.ofNanos(taken.callNanos()),
          prepareSeconds,
          gc,
          taken.allocatedBytes() / done);
    }
  }

  /** Leaves the table empty and the contender ready. */
  private static void warmUp(Job job, Contender contender, ComparisonTables tables)
      throws Exception {
    Workload other = new Workload(job.warmUpShape());
    long actions = job.settings().warmUpActions() / job.shape().threads();
    contender.prepare(other, actions);
    new PeerLoad(contender, other, actions, job.inFlight(), (t, n) -> {}).run();
    contender.flush();
    tables.truncate(List.of(Contenders.named(job.contender()).table()));
    contender.prepare(other, actions); // once more: some close what they flush
  }

  private static long gcMillis() {
    return ManagementFactory.getGarbageCollectorMXBeans().stream()
        .mapToLong(GarbageCollectorMXBean::getCollectionTime)
        .sum();
  }

  private static void runUntilKilled(Job job, Contender contender) throws Exception {
    Workload workload = new Workload(job.shape());
    AcknowledgedFile file =
        AcknowledgedFile.open(
            Path.of(job.place().directory(), Comparison.ACKNOWLEDGED), job.shape().threads());
    contender.prepare(workload, job.actionsPerThread());
    try (ComparisonTables tables = new ComparisonTables(job.place())) {
      warmUp(job, contender, tables);
    }
    System.out.println(RUNNING);
    new PeerLoad(contender, workload, Long.MAX_VALUE, 1, (thread, seq) -> file.set(thread, seq))
        .run();
  }
}
