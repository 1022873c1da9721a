package io.gameq.lab.bench;

import io.gameq.lab.bench.BenchOptions.Part;
import io.gameq.lab.bench.mysql.RawMySql;
import io.gameq.lab.bench.redis.LettuceRedis;
import io.gameq.lab.bench.redis.RawCommits;
import io.gameq.lab.bench.redis.RawRedis;
import io.gameq.lab.bench.report.BenchResult;
import io.gameq.lab.bench.report.Figures;
import io.gameq.lab.bench.workload.Actions;
import io.gameq.lab.bench.workload.Model;
import io.gameq.lab.bench.workload.Workload;
import java.io.IOException;
import java.util.Arrays;
import java.util.List;

/**
 * One round: commits without a writer, then a writer that drains, then what Redis and MySQL alone
 * can do with the same rows. Every round does the same. One thread.
 */
final class Round {
  static final Figures.Name RAW_REDIS = new Figures.Name(Part.LIMITS.label(), "raw Redis commits");
  static final Figures.Name LETTUCE =
      new Figures.Name(Part.LIMITS.label(), "plain client's commits");
  static final Figures.Name RAW_MYSQL = new Figures.Name(Part.LIMITS.label(), "raw MySQL rows");

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

  void run() throws InterruptedException, IOException {
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
      rawMySql(model.distinctRows() > 0 ? model : ofSameActions());
      rawRedis();
      plainClient();
    }
  }

  private Load.Result load(Part part, Load.Pace pace, long actionsPerThread)
      throws InterruptedException {
    world.progress(name + ": " + part.label());
    Load.Result load =
        new Load(world.game(), actions, pace).run(Load.Until.actions(actionsPerThread));
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

  private Model ofSameActions() {
    long[] each = new long[actions.size()];
    Arrays.fill(each, perThread);
    return new Model(workload, each);
  }

  private void rawMySql(Model model) throws InterruptedException {
    world.ageRows();
    world.progress(name + ": raw MySQL");
    RawMySql raw = new RawMySql(world.mysql(), world.tables().table(), model);
    long began = System.nanoTime();
    Threads.run(options.workers(), "raw", part -> raw.write(part, options.workers()));
    add(RAW_MYSQL, raw.rows() / ((System.nanoTime() - began) / 1e9));
  }

  private interface Sending {
    double seconds() throws InterruptedException, IOException;
  }

  private void rawRedis() throws InterruptedException, IOException {
    world.progress(name + ": raw Redis");
    RawRedis raw = new RawRedis(commits(), options.actions());
    add(RAW_REDIS, raw.commits() / inItsOwnNamespace(() -> raw.run(world.redisUri())));
  }

  private void plainClient() throws InterruptedException, IOException {
    world.progress(name + ": plain client");
    LettuceRedis lettuce = new LettuceRedis(commits(), options.actions());
    add(LETTUCE, lettuce.commits() / inItsOwnNamespace(() -> lettuce.run(world.redisUri())));
  }

  private RawCommits commits() {
    return new RawCommits(workload.actions(), world.encoding(), limits(), options.slots());
  }

  private String limits() {
    return "raw-" + world.namespace();
  }

  private double inItsOwnNamespace(Sending sending) throws InterruptedException, IOException {
    try {
      return sending.seconds();
    } finally {
      world.memory().delete(limits());
    }
  }

  private void add(Figures.Name figure, double perSecond) {
    result.figures().add(figure.part(), figure.what(), "1/s", perSecond);
  }
}
