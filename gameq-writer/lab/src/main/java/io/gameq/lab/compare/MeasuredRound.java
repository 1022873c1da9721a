package io.gameq.lab.compare;

import io.gameq.lab.contender.ContenderSetup;
import io.gameq.lab.contender.ContenderType;
import io.gameq.lab.contender.ContenderType.Trait;
import io.gameq.lab.load.Load;
import io.gameq.lab.report.Figures;
import io.gameq.lab.workload.Model;
import io.gameq.lab.workload.Workload;
import java.io.IOException;
import java.util.List;
import java.util.Map;

/** Measures a contender under a load in fresh processes, and compares MySQL. One thread. */
final class MeasuredRound {
  private final TestBed bed;
  private final CompareOptions options;
  private final Map<String, Map<String, String>> settings;

  /** Puts each contender's settings into a map, by its name. */
  MeasuredRound(TestBed bed, CompareOptions options, Map<String, Map<String, String>> settings) {
    this.bed = bed;
    this.options = options;
    this.settings = settings;
  }

  void run(ContenderType type, Group group, Load.Pace pace, int round)
      throws IOException, InterruptedException {
    ChildJob job =
        new ChildJob(
            ChildJob.Mode.MEASURE,
            type.name(),
            pace,
            options.seconds(),
            options.warmUpSeconds(),
            setup(type));
    String part = group.part(type.name());
    ChildReport report = type.is(Trait.OWN_WRITER) ? withWriter(job, part) : alone(job, part);
    settings.put(type.name(), report.settings());
    for (LoadSamples.Sample sample : report.samples()) {
      for (Figures.Value of : sample.values()) {
        bed.series(part, of.what(), of.unit()).add(sample.second(), of.value());
      }
    }
    String found =
        type.is(Trait.REDIS_ALONE)
            ? "ends at Redis"
            : bed.check(
                type,
                part,
                "%s, round %s".formatted(part, round),
                new Model(new Workload(job.setup().shape()), report.acknowledged()));
    List<Double> accepted = bed.figures().get(part, "row changes").values();
    bed.say(
        "round %d  %-24s accepted %,9.0f/s  %s",
        round, part, accepted.get(accepted.size() - 1), found);
  }

  /** One socket is enough to show what Redis can do; MySQL has as many threads as a writer. */
  private ContenderSetup setup(ContenderType type) throws IOException {
    ContenderSetup setup = bed.emptied();
    if (!type.is(Trait.LIMIT)) {
      return setup;
    }
    return setup.withThreads(type.is(Trait.REDIS_ALONE) ? 1 : setup.tuning().workers());
  }

  private ChildReport alone(ChildJob job, String part) throws IOException, InterruptedException {
    try (ChildProcess game = new ChildProcess(job, options.heap())) {
      game.awaitRunning();
      ChildReport report = game.measured();
      bed.figures().add(part, report.figures());
      return report;
    }
  }

  private ChildReport withWriter(ChildJob job, String part)
      throws IOException, InterruptedException {
    try (ChildProcess writer =
            new ChildProcess(
                job.as(ContenderSetup.Role.WRITER, ChildJob.Mode.WRITE), options.heap());
        ChildProcess game = new ChildProcess(job, options.heap())) {
      writer.awaitRunning();
      game.awaitRunning();
      ChildReport.Written before = writer.written();
      ChildReport report = game.measured();
      ChildReport.Written after = writer.written();
      Figures figures = bed.figures();
      figures.add(part, report.figures());
      List<Double> changes = figures.get(part, "row changes in all").values();
      figures.add(part, "rows written in all", "", (double) after.rows() - before.rows());
      figures.add(
          part,
          ProcessorTime.WRITER,
          "us",
          (after.cpuNanos() - before.cpuNanos()) / 1e3 / changes.get(changes.size() - 1));
      figures.add(part, "writer's heap after the last collection", "MB", after.heapBytes() / 1e6);
      figures.add(part, "writer's longest collection", "ms", (double) after.longestGcMillis());
      return report;
    }
  }
}
