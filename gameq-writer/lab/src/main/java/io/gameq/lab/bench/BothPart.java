package io.gameq.lab.bench;

import io.gameq.lab.bench.BenchOptions.Part;
import io.gameq.lab.load.Load;
import io.gameq.lab.load.LoadFigures;
import io.gameq.lab.report.BenchResult;
import io.gameq.lab.report.Figures;
import io.gameq.lab.workload.Actions;
import io.gameq.lab.workload.BenchException;
import io.gameq.lab.workload.Model;
import io.gameq.writer.service.WriterService;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;

/**
 * Game threads and a writer at once, for a time: what is sustained from end to end, and whether
 * anything grows. One thread.
 */
final class BothPart {
  private static final String NAME = Part.BOTH.label();
  private static final long DRAIN_LIMIT_SECONDS = 600;

  private final BenchWorld world;
  private final BenchOptions options;
  private final BenchResult result;

  BothPart(BenchWorld world, BenchResult result) {
    this.world = world;
    this.options = world.options();
    this.result = result;
  }

  void run() throws InterruptedException {
    world.progress("both: game and writer at once for " + options.both().seconds() + " s");
    world.emptyTables();
    List<Actions> actions = world.workload().actions();
    int perSecond = options.both().perSecond();
    Load load =
        new Load(
            world.node(),
            actions,
            perSecond == 0
                ? Load.Pace.closedLoop(options.handOvers())
                : Load.Pace.openLoop(perSecond, options.handOvers()));
    long liveBefore = liveBytes();
    Load.Result loaded;
    double seconds;
    long written;
    long flushes;
    long began = System.nanoTime();
    try (WriterService writer = world.startWriter("bench-writer", options.workers())) {
      try (BothSamples unused = new BothSamples(world, load, writer, result)) {
        loaded = load.run(Load.Until.seconds(options.both().seconds()));
      }
      awaitEmpty();
      seconds = (System.nanoTime() - began) / 1e9;
      written = writer.stats().rows();
      flushes = writer.stats().flushes();
    }
    long liveAfter = liveBytes();
    Figures figures = result.figures();
    int rowsPerAction = options.shape().rowsPerAction();
    double changes = (double) loaded.actions() * rowsPerAction;
    figures.add(NAME, "row changes from end to end", "1/s", changes / seconds);
    figures.add(NAME, "row changes for each row written", "", changes / Math.max(1, written));
    figures.add(NAME, "rows written", "1/s", written / seconds);
    figures.add(NAME, "rows of a flush", "", written / (double) Math.max(1, flushes));
    LoadFigures.add(figures, NAME, loaded, rowsPerAction);
    figures.add(NAME, "live heap before", "MB", liveBefore / 1e6);
    figures.add(NAME, "live heap after", "MB", liveAfter / 1e6);
    BothSamples.addGrowth(figures, result);
    world.progress("both: check");
    result.check(NAME, world.check(new Model(world.workload(), loaded.acknowledged())));
  }

  private void awaitEmpty() throws InterruptedException {
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(DRAIN_LIMIT_SECONDS);
    while (world.backlog().owners() > 0) {
      if (System.nanoTime() > deadline) {
        throw new BenchException(
            String.format(
                Locale.ROOT,
                "%,d owners still wait %d s after the last commit",
                world.backlog().owners(),
                DRAIN_LIMIT_SECONDS));
      }
      TimeUnit.MILLISECONDS.sleep(2);
    }
  }

  /** What is reachable: asking for a full collection is the only way to know. */
  private static long liveBytes() {
    System.gc();
    Runtime runtime = Runtime.getRuntime();
    return runtime.totalMemory() - runtime.freeMemory();
  }
}
