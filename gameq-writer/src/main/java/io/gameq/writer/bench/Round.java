package io.gameq.writer.bench;

import io.gameq.writer.WriterService;
import io.gameq.writer.bench.BenchOptions.Part;
import io.gameq.writer.bench.mysql.RawMySql;
import io.gameq.writer.bench.redis.RawRedis;
import io.gameq.writer.bench.workload.Actions;
import io.gameq.writer.bench.workload.Model;
import io.gameq.writer.bench.workload.Workload;
import java.io.IOException;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * One round: commits without a writer, then a writer that drains, then what Redis and MySQL alone
 * can do with the same rows. One thread.
 */
final class Round {
  private static final long DRAIN_LIMIT_SECONDS = 600;

  private final BenchWorld world;
  private final BenchOptions options;
  private final Workload workload;

  Round(BenchWorld world) {
    this.world = world;
    this.options = world.options();
    this.workload = world.workload();
  }

  /** What a round came to. */
  record Result(
      Map<Part, Load.Result> loads,
      @Nullable Drained drained,
      Model.@Nullable Result check,
      double rawRedisPerSecond,
      double rawMySqlRowsPerSecond) {}

  /**
   * What a drain came to.
   *
   * @param distinctRows changed since the last one
   * @param rowsWritten to MySQL
   */
  record Drained(long distinctRows, long rowsWritten, double seconds, Resources.Used used) {
    double rowsPerSecond() {
      return distinctRows / seconds;
    }
  }

  Result run() throws InterruptedException, IOException {
    world.ageRows();
    List<Actions> actions = workload.actions();
    long perThread = options.actions() / actions.size();
    Map<Part, Load.Result> loads = new EnumMap<>(Part.class);
    double perSecond = 10_000;
    if (options.has(Part.CLOSED)) {
      world.progress("closed loop");
      Load.Result closed =
          new Load(world.game(), actions, Load.Pace.CLOSED_LOOP).run(Load.Until.actions(perThread));
      loads.put(Part.CLOSED, closed);
      perSecond = options.actions() / closed.seconds();
    }
    if (options.has(Part.PACED)) {
      world.progress("paced");
      loads.put(
          Part.PACED,
          new Load(world.game(), actions, new Load.Pace(Integer.MAX_VALUE, (int) perSecond / 2))
              .run(Load.Until.actions(perThread / 2)));
    }
    if (options.has(Part.PRESSURE)) {
      world.progress("full pressure");
      loads.put(
          Part.PRESSURE,
          new Load(world.game(), actions, new Load.Pace(options.inFlight(), 0))
              .run(Load.Until.actions(perThread)));
    }
    Model model = new Model(workload, actions.stream().mapToLong(Actions::seq).toArray());
    Drained drained = null;
    Model.Result check = null;
    if (options.has(Part.DRAIN)) {
      world.progress("drain");
      drained = drain(model.distinctRows());
      check = world.check(model);
    }
    double rawMySql = 0;
    double rawRedis = 0;
    if (options.has(Part.LIMITS)) {
      world.ageRows();
      world.progress("raw MySQL");
      rawMySql = rawMySql(model);
      world.progress("raw Redis");
      rawRedis = rawRedis();
    }
    return new Result(loads, drained, check, rawRedis, rawMySql);
  }

  private Drained drain(long rows) throws InterruptedException {
    Resources before = Resources.now();
    long began = System.nanoTime();
    try (WriterService writer = world.startWriter()) {
      long deadline = began + TimeUnit.SECONDS.toNanos(DRAIN_LIMIT_SECONDS);
      while (writer.stats().rows() < rows) {
        if (System.nanoTime() > deadline) {
          throw new BenchException(
              "only %d of %d rows were flushed within %d s"
                  .formatted(writer.stats().rows(), rows, DRAIN_LIMIT_SECONDS));
        }
        TimeUnit.MILLISECONDS.sleep(1);
      }
      double seconds = (System.nanoTime() - began) / 1e9;
      return new Drained(rows, writer.stats().rows(), seconds, before.usedSince());
    }
  }

  private double rawMySql(Model model) throws InterruptedException {
    RawMySql raw = new RawMySql(world.dataSource(), world.table(), model);
    long began = System.nanoTime();
    Threads.run(options.workers(), "raw", part -> raw.write(part, options.workers()));
    return raw.rows() / ((System.nanoTime() - began) / 1e9);
  }

  private double rawRedis() throws IOException {
    RawRedis raw =
        new RawRedis(
            workload.actions(), options.actions(), "raw-" + world.namespace(), options.slots());
    try {
      return raw.commits() / raw.run(world.redisUri());
    } finally {
      world.deleteKeys("raw-" + world.namespace());
    }
  }
}
