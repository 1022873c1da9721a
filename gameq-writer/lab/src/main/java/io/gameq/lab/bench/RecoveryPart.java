package io.gameq.lab.bench;

import io.gameq.lab.bench.BenchOptions.Part;
import io.gameq.lab.load.Load;
import io.gameq.lab.report.BenchResult;
import io.gameq.lab.report.Figures;
import io.gameq.lab.workload.Actions;
import io.gameq.lab.workload.BenchException;
import io.gameq.lab.workload.Model;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;

/**
 * Redis loses every key of the namespace while rows wait, as by a failover to an empty server: how
 * long until it has all of them again, and then until MySQL has. One thread.
 */
final class RecoveryPart {
  private static final String NAME = Part.RECOVERY.label();
  private static final long LIMIT_SECONDS = 600;

  private final BenchWorld world;
  private final BenchOptions options;
  private final BenchResult result;

  RecoveryPart(BenchWorld world, BenchResult result) {
    this.world = world;
    this.options = world.options();
    this.result = result;
  }

  void run() throws InterruptedException {
    world.emptyTables();
    world.progress("recovery: commits that wait");
    List<Actions> actions = world.workload().actions();
    long perThread = Math.max(1, options.actions() / actions.size());
    Load.Result before =
        new Load(world.node(), actions, new Load.Pace(options.inFlight(), 0, options.handOvers()))
            .run(Load.Until.actions(perThread));
    Model lost = new Model(world.workload(), before.acknowledged());

    world.progress(
        String.format(Locale.ROOT, "recovery: Redis loses %,d rows", lost.distinctRows()));
    world.memory().delete(world.namespace());
    long began = System.nanoTime();
    Actions first = actions.get(0);
    first.next();
    world.node().act(first).awaitQueued(Duration.ofSeconds(LIMIT_SECONDS));
    double firstCommit = secondsSince(began);
    Model model = new Model(world.workload(), actions.stream().mapToLong(Actions::seq).toArray());
    awaitRows(model.distinctRows());
    double back = secondsSince(began);

    world.progress("recovery: drain");
    DrainPart.Result drained = new DrainPart(world).run(model.distinctRows());
    Figures figures = result.figures();
    figures.add(NAME, "rows lost by Redis", "", (double) lost.distinctRows());
    figures.add(NAME, "first commit after the loss", "s", firstCommit);
    figures.add(NAME, "all rows back in Redis", "s", back);
    figures.add(NAME, "rows put back", "1/s", lost.distinctRows() / back);
    figures.add(NAME, "from then until all are in MySQL", "s", drained.seconds());
    result.check(NAME, world.check(model));
  }

  private void awaitRows(long rows) throws InterruptedException {
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(LIMIT_SECONDS);
    for (long there; (there = world.backlog().dirtyRows()) < rows; ) {
      if (System.nanoTime() > deadline) {
        throw new BenchException(
            String.format(
                Locale.ROOT,
                "Redis has %,d of %,d rows again %d s after it lost them",
                there,
                rows,
                LIMIT_SECONDS));
      }
      TimeUnit.MILLISECONDS.sleep(5);
    }
  }

  private static double secondsSince(long nanos) {
    return (System.nanoTime() - nanos) / 1e9;
  }
}
