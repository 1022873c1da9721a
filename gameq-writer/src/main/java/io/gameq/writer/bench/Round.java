package io.gameq.writer.bench;

import io.gameq.writer.WriterService;
import io.gameq.writer.bench.mysql.RawMySql;
import io.gameq.writer.bench.redis.RawRedis;
import io.gameq.writer.bench.workload.Actions;
import io.gameq.writer.bench.workload.Model;
import io.gameq.writer.bench.workload.Workload;
import java.io.IOException;
import java.util.List;
import java.util.concurrent.TimeUnit;

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

  /**
   * What a round came to.
   *
   * @param closedLoop each thread waits for Redis
   * @param paced at half that rate, whatever became of earlier ones
   * @param pressure many in flight
   */
  record Result(
      Load.Result closedLoop,
      Load.Result paced,
      Load.Result pressure,
      Drained drained,
      Model.Result check,
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
    world.progress("closed loop");
    Load.Result closed =
        new Load(world.game(), actions, Load.Pace.CLOSED_LOOP).run(Load.Until.actions(perThread));
    world.progress("paced");
    int half = (int) Math.max(1, options.actions() / closed.seconds() / 2);
    Load.Result paced =
        new Load(world.game(), actions, new Load.Pace(Integer.MAX_VALUE, half))
            .run(Load.Until.actions(perThread / 2));
    world.progress("full pressure");
    Load.Result pressure =
        new Load(world.game(), actions, new Load.Pace(options.inFlight(), 0))
            .run(Load.Until.actions(perThread));
    Model model = new Model(workload, pressure.actions());
    world.progress("drain");
    Drained drained = drain(model.distinctRows());
    Model.Result check = world.check(model);
    world.ageRows();
    world.progress("raw MySQL");
    double rawMySql = rawMySql(model);
    world.progress("raw Redis");
    double rawRedis = rawRedis();
    return new Result(closed, paced, pressure, drained, check, rawRedis, rawMySql);
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
