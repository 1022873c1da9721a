package io.gameq.lab.bench;

import io.gameq.lab.bench.BenchOptions.Part;
import io.gameq.lab.load.Load;
import io.gameq.lab.load.LoadFigures;
import io.gameq.lab.report.BenchResult;
import io.gameq.lab.workload.Actions;
import io.gameq.lab.workload.Model;
import io.gameq.lab.workload.Workload;
import java.util.List;

/**
 * One round: commits without a writer, then a writer that drains, then what Redis and MySQL alone
 * can do with the same rows. Every round does the same. One thread.
 */
final class Round {
  /** When no closed loop says what the machine can do: actions per second of all threads. */
  private static final double PACE_BY_DEFAULT = 5_000;

  private final BenchWorld world;
  private final BenchOptions options;
  private final Workload workload;
  private final String name;
  private final BenchResult result;
  private final List<Actions> actions;
  private final long perThread;

  /** A round that goes into a result, under its name where it is compared. */
  Round(BenchWorld world, String name, BenchResult result) {
    this.world = world;
    this.options = world.options();
    this.workload = world.workload();
    this.name = name;
    this.result = result;
    this.actions = workload.actions();
    this.perThread = Math.max(1, options.actions() / actions.size());
  }

  void run() throws InterruptedException {
    world.ageRows();
    double pace = PACE_BY_DEFAULT;
    if (options.has(Part.CLOSED)) {
      pace =
          load(Part.CLOSED, Load.Pace.closedLoop(options.handOvers()), perThread).perSecond() / 2;
    }
    if (options.has(Part.PACED)) {
      load(
          Part.PACED,
          Load.Pace.openLoop(Math.max(1, (int) pace), options.handOvers()),
          Math.max(1, perThread / 2));
    }
    if (options.has(Part.PRESSURE)) {
      load(Part.PRESSURE, new Load.Pace(options.inFlight(), 0, options.handOvers()), perThread);
    }
    Model model = new Model(workload, actions.stream().mapToLong(Actions::seq).toArray());
    if (model.distinctRows() > 0) {
      drain(model);
    }
    if (options.has(Part.LIMITS)) {
      new LimitsPart(world, name, result).run(model);
    }
  }

  private Load.Result load(Part part, Load.Pace pace, long actionsPerThread)
      throws InterruptedException {
    world.progress(name + ": " + part.label());
    Load.Result load =
        new Load(world.node(), actions, pace).run(Load.Until.actions(actionsPerThread));
    LoadFigures.add(result.figures(), part.label(), load, options.shape().rowsPerAction());
    return load;
  }

  /** Drained in any case: the next round begins with an empty Redis. */
  private void drain(Model model) throws InterruptedException {
    world.progress(name + ": drain");
    DrainPart.Result drained = new DrainPart(world).run(model.distinctRows());
    if (options.has(Part.DRAIN)) {
      drained.addTo(result.figures(), Part.DRAIN.label());
    }
    world.progress(name + ": check");
    result.check(name, world.check(model));
  }
}
