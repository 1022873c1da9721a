package io.gameq.lab.bench;

import io.gameq.lab.bench.BenchOptions.Part;
import io.gameq.lab.contender.mysql.RawMySql;
import io.gameq.lab.contender.redis.CommitBytes;
import io.gameq.lab.contender.redis.PlainClient;
import io.gameq.lab.contender.redis.RawRedis;
import io.gameq.lab.load.Contender;
import io.gameq.lab.load.Load;
import io.gameq.lab.report.BenchResult;
import io.gameq.lab.report.Figures;
import io.gameq.lab.workload.BenchException;
import io.gameq.lab.workload.Model;
import io.gameq.lab.workload.Workload;

/**
 * What Redis, the client library and MySQL do with the same rows when gameq is not there: the
 * limits as contenders. One thread.
 */
final class LimitsPart {
  static final Figures.Name RAW_REDIS = new Figures.Name(Part.LIMITS.label(), "raw Redis commits");
  static final Figures.Name RAW_MYSQL = new Figures.Name(Part.LIMITS.label(), "raw MySQL rows");

  private static final Figures.Name PLAIN_CLIENT =
      new Figures.Name(Part.LIMITS.label(), "plain client's commits");

  private final BenchWorld world;
  private final BenchOptions options;
  private final String name;
  private final BenchResult result;

  LimitsPart(BenchWorld world, String name, BenchResult result) {
    this.world = world;
    this.options = world.options();
    this.name = name;
    this.result = result;
  }

  /** Runs all three; {@code model} is of the rows that the round wrote, if it wrote any. */
  void run(Model model) throws InterruptedException {
    long actionsPerThread = Math.max(1, options.actions() / world.workload().shape().threads());
    rawMySql(
        model.distinctRows() > 0 ? model : Model.afterActions(world.workload(), actionsPerThread));
    CommitBytes bytes = new CommitBytes(world.encoding(), namespace(), options.slots());
    commits(RAW_REDIS, new RawRedis(world.redisUri(), bytes));
    commits(PLAIN_CLIENT, new PlainClient(world.redisUri(), bytes));
  }

  private void rawMySql(Model model) throws InterruptedException {
    world.ageRows();
    world.progress(name + ": " + RAW_MYSQL.what());
    RawMySql raw =
        new RawMySql(world.database().mysql(), world.tables().table(), options.workers());
    add(RAW_MYSQL, raw.rowsPerSecond(model));
  }

  /** As many actions as the round has, of one game thread, which is never the limit. */
  private void commits(Figures.Name figure, Contender limit) throws InterruptedException {
    world.progress(name + ": " + figure.what());
    Workload workload = new Workload(options.shape().withThreads(1));
    try (limit) {
      limit.prepare(workload, options.actions());
      Load load =
          new Load(limit, workload.actions(), Load.Pace.pressure(RawRedis.COMMITS_IN_FLIGHT));
      add(figure, load.run(Load.Until.actions(options.actions())).perSecond());
    } catch (InterruptedException | RuntimeException e) {
      throw e;
    } catch (Exception e) {
      throw new BenchException(figure.what() + ": " + e.getMessage(), e);
    } finally {
      world.memory().delete(namespace());
    }
  }

  private String namespace() {
    return "raw-" + world.namespace();
  }

  private void add(Figures.Name figure, double perSecond) {
    result.figures().add(figure.part(), figure.what(), "1/s", perSecond);
  }
}
