package io.gameq.lab.bench;

import io.gameq.lab.load.Load;
import io.gameq.lab.redis.ClaimProbe;
import io.gameq.lab.report.BenchResult;
import io.gameq.lab.report.Figures;
import io.gameq.lab.workload.Actions;
import io.gameq.lab.workload.Fill;
import io.gameq.lab.workload.Model;
import io.gameq.lab.workload.Workload;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.HdrHistogram.Histogram;

/**
 * Measures the same few things at each point of a curve, each in a world of its own: new tables, a
 * new namespace, every player logged in by a real login. One thread.
 */
final class Growth {
  private static final int CALLS = 100;

  private final BenchOptions options;
  private final BenchWorld.Place place;
  private final BenchResult result;
  private boolean isWarm;

  Growth(BenchOptions options, BenchWorld.Place place, BenchResult result) {
    this.options = options;
    this.place = place;
    this.result = result;
  }

  /** What is different at a point; {@code fill} rows wait before anything is measured. */
  private record Setting(BenchOptions options, long fill, int writers, int workers) {}

  /** Measures curves, {@code bound} as {@link GrowthKind#points} takes it. */
  void run(Set<GrowthKind> kinds, long bound) throws InterruptedException {
    for (GrowthKind kind : kinds) {
      if (!isWarm) { // the first point must not pay for a cold JVM
        isWarm = true;
        long warmNanos = options.rounds().warmNanos();
        do {
          var unused = measure("growth, warm-up", setting(kind, kind.points(bound).get(0)));
        } while (System.nanoTime() - warmNanos < 0);
      }
      for (long x : kind.points(bound)) {
        String name = String.format(Locale.ROOT, "growth of %s, %,d", kind.label(), x);
        Figures figures = measure(name, setting(kind, x));
        result.growth(kind.label(), new BenchResult.GrowthPoint(x, figures.part(Point.NAME)));
      }
    }
  }

  private Figures measure(String name, Setting setting) throws InterruptedException {
    Figures figures = new Figures();
    try (BenchWorld world = new BenchWorld(setting.options, place)) {
      world.progress(name);
      result.check(name, new Point(world, setting, figures).measure());
    }
    return figures;
  }

  private Setting setting(GrowthKind kind, long x) {
    Workload.Shape shape = options.shape();
    int workers = options.workers();
    return switch (kind) {
      case PLAYERS -> new Setting(options.with(shape.withPlayers((int) x)), 0, 1, workers);
      case BACKLOG ->
          new Setting(
              options.with(
                  shape.withPlayers(
                      (int)
                          Math.max(
                              shape.threads(),
                              (x + shape.rowsPerPlayer() - 1) / shape.rowsPerPlayer()))),
              x,
              1,
              workers);
      case WRITERS -> new Setting(options, 0, (int) x, 1);
      case SLOTS -> new Setting(options.withSlots((int) x), 0, 1, workers);
      case ROWBYTES -> new Setting(options.with(shape.withRowBytes((int) x)), 0, 1, workers);
    };
  }

  /** One point. */
  private static final class Point {
    static final String NAME = "point";

    private final BenchWorld world;
    private final Setting setting;
    private final Figures figures;

    Point(BenchWorld world, Setting setting, Figures figures) {
      this.world = world;
      this.setting = setting;
      this.figures = figures;
    }

    Model.Result measure() throws InterruptedException {
      latency("login", world.login());
      if (setting.fill > 0) {
        figures.add(NAME, "filled", "rows/s", new Filling(world, fill()).run(0));
      }
      BenchOptions options = setting.options;
      List<Actions> actions = world.workload().actions();
      Load.Result load =
          new Load(world.node(), actions, Load.Pace.pressure(options.inFlight()))
              .run(Load.Until.actions(Math.max(1, options.actions() / actions.size())));
      figures.add(NAME, "commits", "1/s", load.perSecond());
      TimeUnit.MILLISECONDS.sleep(options.mergeWindowMillis());
      ClaimProbe.Result claims = world.claims(CALLS);
      latency("claim of a full batch", claims.nanos());
      figures.add(NAME, "rows of a batch", "rows", claims.rowsPerCall());
      latency("claim of an idle slot", world.idleClaims(CALLS).nanos());
      latency("backlog of a slot asked", world.backlog().latency(CALLS));
      return drain(new Model(world.workload(), load.acknowledged()));
    }

    /** The rows of actions are among those of the fill, which wait in their first form. */
    private Model.Result drain(Model model) throws InterruptedException {
      long rows = setting.fill > 0 ? world.backlog().dirtyRows() : model.distinctRows();
      DrainPart.Result drained = new DrainPart(world).run(rows, setting.writers, setting.workers);
      figures.add(NAME, "drained rows", "1/s", drained.rowsPerSecond());
      Model.Result check = world.check(model);
      long missing = Math.max(0, setting.fill - check.rows());
      return missing == 0 || setting.options.shape().deletes() > 0
          ? check
          : new Model.Result(
              check.rows(),
              check.lostChanges() + missing,
              check.lostRows() + missing,
              check.tornActions(),
              check.damagedRows());
    }

    private Fill fill() {
      return new Fill(setting.options.shape(), setting.fill);
    }

    private void latency(String what, Histogram nanos) {
      figures.add(NAME, what + " p50", "ms", nanos.getValueAtPercentile(50) / 1e6);
      figures.add(NAME, what + " p99", "ms", nanos.getValueAtPercentile(99) / 1e6);
    }
  }
}
