package io.gameq.lab.compare;

import io.gameq.lab.contender.ContenderType;
import io.gameq.lab.load.Contender;
import io.gameq.lab.load.Load;
import io.gameq.lab.load.LoadFigures;
import io.gameq.lab.mysql.StoredRows;
import io.gameq.lab.report.Figures;
import io.gameq.lab.workload.Workload;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** One contender under one load, in a child process. One thread. */
final class Measurement {
  /** Those that make actions ready before a load repeat as many. */
  private static final long ACTIONS_MADE_READY = 100_000;

  /** How long MySQL may still change after the contender took everything for written. */
  private static final long STRAGGLER_MILLIS = 5_000;

  private static final long POLL_MILLIS = 50;

  private final ChildJob job;
  private final ContenderType type;
  private final Contender contender;
  private final StoredRows rows;
  private final Workload workload;

  Measurement(ChildJob job, ContenderType type, Contender contender, StoredRows rows) {
    this.job = job;
    this.type = type;
    this.contender = contender;
    this.rows = rows;
    this.workload = new Workload(job.setup().shape());
  }

  /** Logs everybody in and plays under another seed; leaves the table empty. */
  void warmUp() throws Exception {
    Workload other = new Workload(job.setup().shape().withSeed(~job.setup().shape().seed()));
    contender.prepare(other, ACTIONS_MADE_READY);
    var unused =
        new Load(contender, other.actions(), job.pace())
            .run(Load.Until.seconds(job.warmUpSeconds()));
    contender.flush();
    rows.truncate(List.of(type.table()));
    contender.prepare(workload, ACTIONS_MADE_READY); // once more: some close what they flush
  }

  /** The load that {@code acknowledged} is told of; the caller runs it. */
  Load load(Load.Acknowledged acknowledged) {
    return new Load(contender, workload.actions(), job.pace(), acknowledged);
  }

  /** Plays until the time is over, and waits until MySQL holds everything. */
  ChildReport measure() throws Exception {
    PerformedRows performed = new PerformedRows(contender, job.setup().shape());
    final long rowsBefore = contender.rowsWritten();
    final ProcessorTime busy = ProcessorTime.now();
    Load play = new Load(performed, workload.actions(), job.pace());
    LoadSamples samples = job.pace().perSecond() == 0 ? null : new LoadSamples(job, type, play);
    Load.Result load;
    try (samples) {
      load = play.run(Load.Until.seconds(job.seconds()));
    }
    contender.flush();
    Ending ending = ending(performed.sum());

    Figures figures = new Figures();
    String part = job.contender();
    int rowsPerAction = job.setup().shape().rowsPerAction();
    double changes = (double) Math.max(1, load.actions()) * rowsPerAction;
    LoadFigures.add(figures, part, load, rowsPerAction);
    figures.add(part, "row changes in all", "", changes);
    ending.processors().since(busy).addTo(figures, part, changes);
    if (!type.is(ContenderType.Trait.REDIS_ALONE)) {
      double seconds = (ending.nanos() - load.beganNanos()) / 1e9;
      figures.add(part, "until MySQL held everything", "s", seconds);
      figures.add(part, "row changes from end to end", "1/s", changes / seconds);
      figures.add(part, "distinct rows", "", (double) performed.sum().rows());
      figures.add(part, "MySQL held everything", "of 1", ending.isComplete() ? 1 : 0);
    }
    if (!type.is(ContenderType.Trait.OWN_WRITER) && !type.is(ContenderType.Trait.REDIS_ALONE)) {
      figures.add(part, "rows written in all", "", (double) contender.rowsWritten() - rowsBefore);
    }
    return new ChildReport(
        figures.values(part),
        load.acknowledged(),
        contender.settings(),
        samples == null ? List.of() : samples.all());
  }

  /** When MySQL held everything, as far as it did, and what processors had done by then. */
  private record Ending(long nanos, ProcessorTime processors, boolean isComplete) {}

  /** The contender says that all is written: MySQL is asked, and for some time once more. */
  private Ending ending(StoredRows.Sum expected) throws InterruptedException {
    Ending flushed = new Ending(System.nanoTime(), ProcessorTime.now(), holds(expected));
    for (long waited = 0;
        !flushed.isComplete() && waited < STRAGGLER_MILLIS;
        waited += POLL_MILLIS) {
      TimeUnit.MILLISECONDS.sleep(POLL_MILLIS);
      Ending late = new Ending(System.nanoTime(), ProcessorTime.now(), holds(expected));
      flushed = late.isComplete() ? late : flushed;
    }
    return flushed;
  }

  private boolean holds(StoredRows.Sum expected) {
    return type.is(ContenderType.Trait.REDIS_ALONE) || rows.sum(type.table()).equals(expected);
  }
}
