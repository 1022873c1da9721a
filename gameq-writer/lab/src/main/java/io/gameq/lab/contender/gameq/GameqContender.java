package io.gameq.lab.contender.gameq;

import io.gameq.GameQueueConfig;
import io.gameq.lab.contender.ContenderSetup;
import io.gameq.lab.load.Contender;
import io.gameq.lab.workload.Workload;
import io.gameq.mysql.MySql;
import io.gameq.mysql.MySqlPool;
import io.gameq.redis.RedisConfig;
import io.gameq.redis.RedisConnector;
import io.gameq.redis.script.ClaimScript;
import io.gameq.writer.service.WriterService;
import io.gameq.writer.turn.WriterOptions;
import java.time.Duration;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** gameq itself: a node and a writer in one process, WAL and version guard on. */
final class GameqContender implements Contender {
  private static final int CONNECTIONS = 8;
  private static final Duration FLUSH_LIMIT = Duration.ofMinutes(5);

  private final RedisConnector redis;
  private final MySql pool;
  private final WriterService writer;
  private final @Nullable GameqNode node;

  GameqContender(ContenderSetup setup) {
    ContenderSetup.Place place = setup.place();
    redis =
        new RedisConnector(
            new RedisConfig(place.redisUri(), null, RedisConfig.DEFAULT_TIMEOUT_MILLIS));
    pool = MySqlPool.openForFlushes(place.mysql(CONNECTIONS));
    writer =
        new WriterService(
            new WriterOptions(
                place.name(),
                setup.tuning().slots(),
                "writer-" + ProcessHandle.current().pid(),
                setup.tuning().workers(),
                ClaimScript.Bounds.DEFAULT.withLease(setup.tuning().leaseMillis()),
                WriterOptions.DEFAULT_PATIENCE,
                WriterOptions.DEFAULT_TOMBSTONES_KEPT),
            redis,
            pool);
    node = setup.recovers() ? null : new GameqNode(config(setup), setup.shape().players());
  }

  private static GameQueueConfig config(ContenderSetup setup) {
    ContenderSetup.Place place = setup.place();
    return GameQueueConfig.builder()
        .redis(place.redisUri())
        .mysql(place.jdbcUrl(), place.mysqlUser(), place.mysqlPassword())
        .namespace(place.name())
        .node("node-1")
        .slots(setup.tuning().slots())
        .walDirectory(place.path())
        .mergeWindow(Duration.ofMillis(setup.tuning().mergeWindowMillis()))
        .build();
  }

  private GameqNode node() {
    return Objects.requireNonNull(node);
  }

  /** Logs the players in who are going to act. */
  @Override
  public void prepare(Workload workload, long actionsPerThread) throws InterruptedException {
    node().loginOf(workload.actions(), actionsPerThread);
  }

  @Override
  public GameThread gameThread(int thread) {
    return node().gameThread(thread);
  }

  @Override
  public void flush() {
    if (node().settle(FLUSH_LIMIT) > 0) {
      throw new IllegalStateException("not drained within " + FLUSH_LIMIT);
    }
  }

  @Override
  public long rowsWritten() {
    return writer.stats().rows();
  }

  @Override
  public void close() {
    if (node != null) {
      node.close();
    }
    writer.close();
    redis.close();
    pool.close();
  }
}
