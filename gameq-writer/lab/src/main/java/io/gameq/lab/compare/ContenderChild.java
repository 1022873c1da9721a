package io.gameq.lab.compare;

import com.fasterxml.jackson.databind.ObjectMapper;
import io.gameq.lab.contender.ContenderType;
import io.gameq.lab.contender.Contenders;
import io.gameq.lab.load.Contender;
import io.gameq.lab.load.Load;
import io.gameq.lab.load.LoadFigures;
import io.gameq.lab.mysql.StoredRows;
import io.gameq.lab.report.Figures;
import io.gameq.lab.workload.Model;
import io.gameq.lab.workload.Workload;
import io.gameq.mysql.MySql;
import io.gameq.mysql.MySqlPool;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.TimeUnit;

/**
 * The main class of a child process: one contender, one {@link ChildJob}, which it reads from its
 * standard input. What it has to say it writes to its standard output, a line each.
 */
public final class ContenderChild {
  /** Said before the actions begin. */
  static final String RUNNING = "running";

  /** How long MySQL may still change after the contender took everything for written. */
  private static final long STRAGGLER_MILLIS = 5_000;

  private static final long POLL_MILLIS = 50;
  private static final int CONNECTIONS = 2;

  private final ChildJob job;
  private final ContenderType type;
  private final Contender contender;
  private final StoredRows rows;

  private ContenderChild(ChildJob job, ContenderType type, Contender contender, StoredRows rows) {
    this.job = job;
    this.type = type;
    this.contender = contender;
    this.rows = rows;
  }

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
    ChildJob job = json.readValue(Objects.requireNonNull(in.readLine()), ChildJob.class);
    ContenderType type = Contenders.named(job.contender());
    try (Contender contender = type.opening().open(job.setup());
        MySql pool = MySqlPool.open(job.setup().place().mysql(CONNECTIONS), "compare")) {
      ContenderChild child = new ContenderChild(job, type, contender, new StoredRows(pool));
      switch (job.mode()) {
        case MEASURE -> System.out.println(json.writeValueAsString(child.measure()));
        case BE_KILLED -> child.runUntilKilled();
        case RECOVER -> {
          contender.recover();
          System.out.println(RUNNING);
          in.readLine();
        }
      }
    }
  }

  private List<Figures.Value> measure() throws Exception {
    Workload workload = new Workload(job.setup().shape());
    long actions = job.actionsPerThread();
    long beforePrepare = System.nanoTime();
    contender.prepare(workload, actions);
    final double prepareSeconds = (System.nanoTime() - beforePrepare) / 1e9;
    warmUp();
    contender.prepare(workload, actions); // once more: some close what they flush

    Model model = Model.afterActions(workload, actions);
    final StoredRows.Sum expected = StoredRows.sumOf(model);
    final long rowsBefore = contender.rowsWritten();
    System.gc();
    System.out.println(RUNNING);
    Load.Result load =
        new Load(contender, workload.actions(), job.pace()).run(Load.Until.actions(actions));
    contender.flush();
    long flushed = System.nanoTime();
    boolean isComplete = holds(expected);
    for (long waited = 0; !isComplete && waited < STRAGGLER_MILLIS; waited += POLL_MILLIS) {
      TimeUnit.MILLISECONDS.sleep(POLL_MILLIS);
      long now = System.nanoTime();
      isComplete = holds(expected);
      flushed = isComplete ? now : flushed;
    }

    Figures figures = new Figures();
    String part = job.contender();
    int rowsPerAction = job.setup().shape().rowsPerAction();
    LoadFigures.add(figures, part, load, rowsPerAction);
    figures.add(
        part,
        "allocated by game threads for each action",
        "B",
        (double) load.gameThreadBytes() / load.actions());
    if (!type.is(ContenderType.Trait.REDIS_ALONE)) {
      double endToEnd = (flushed - load.beganNanos()) / 1e9;
      figures.add(
          part, "row changes from end to end", "1/s", load.actions() * rowsPerAction / endToEnd);
      figures.add(part, "rows written in all", "", (double) contender.rowsWritten() - rowsBefore);
      figures.add(part, "distinct rows", "", (double) expected.rows());
      figures.add(part, "MySQL held everything", "of 1", isComplete ? 1 : 0);
    }
    figures.add(part, "prepared, not part of anything else", "s", prepareSeconds);
    return figures.values(part);
  }

  private boolean holds(StoredRows.Sum expected) {
    return type.is(ContenderType.Trait.REDIS_ALONE) || rows.sum(type.table()).equals(expected);
  }

  /** Leaves the table empty. */
  private void warmUp() throws Exception {
    Workload other = new Workload(job.setup().shape().withSeed(~job.setup().shape().seed()));
    long actions = job.warmUpActionsPerThread();
    contender.prepare(other, actions);
    var unused = new Load(contender, other.actions(), job.pace()).run(Load.Until.actions(actions));
    contender.flush();
    rows.truncate(List.of(type.table()));
  }

  private void runUntilKilled() throws Exception {
    Workload workload = new Workload(job.setup().shape());
    AcknowledgedFile file =
        AcknowledgedFile.open(job.setup().place().path(), job.setup().shape().threads());
    contender.prepare(workload, job.actionsPerThread());
    warmUp();
    contender.prepare(workload, job.actionsPerThread());
    System.out.println(RUNNING);
    var unused =
        new Load(contender, workload.actions(), job.pace(), file::set)
            .run(Load.Until.actions(Long.MAX_VALUE));
  }
}
