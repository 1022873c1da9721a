package io.gameq.lab.contender.gameq;

import io.gameq.lab.contender.ContenderSetup;
import io.gameq.lab.load.Contender;
import io.gameq.mysql.MySqlPool;
import io.gameq.mysql.MySqlPool.MySql;
import io.gameq.redis.RedisConnector;
import io.gameq.redis.RedisConnector.RedisConfig;
import io.gameq.redis.script.ClaimScript;
import io.gameq.writer.flush.SlowLane;
import io.gameq.writer.flush.WriterOptions;
import io.gameq.writer.service.WriterService;
import java.util.LinkedHashMap;
import java.util.Map;

/** gameq's writer in a process of its own, as it is shipped. */
final class GameqWriter implements Contender {
  /** Beside the workers'; as the writer's own command has it. */
  private static final int MORE_CONNECTIONS = SlowLane.THREADS + 1;

  private final RedisConnector redis;
  private final MySql pool;
  private final WriterService writer;

  GameqWriter(ContenderSetup setup) {
    ContenderSetup.Place place = setup.place();
    redis = new RedisConnector(new RedisConfig(place.redisUri()));
    pool = MySqlPool.openForFlushes(place.mysql(setup.tuning().workers() + MORE_CONNECTIONS));
    writer =
        new WriterService(
            new WriterOptions(
                place.name(),
                setup.tuning().slots(),
                "writer-" + ProcessHandle.current().pid(),
                setup.tuning().workers(),
                bounds(setup.tuning()),
                WriterOptions.DEFAULT_PATIENCE,
                WriterOptions.DEFAULT_TOMBSTONES_KEPT,
                WriterOptions.NO_CEILING),
            redis,
            pool);
  }

  private static ClaimScript.Bounds bounds(ContenderSetup.Tuning tuning) {
    ClaimScript.Bounds of = ClaimScript.Bounds.DEFAULT;
    return new ClaimScript.Bounds(of.owners(), of.rows(), of.bytes(), tuning.leaseMillis());
  }

  /** What a writer of this tuning is set to. */
  static Map<String, String> settings(ContenderSetup.Tuning tuning) {
    ClaimScript.Bounds bounds = bounds(tuning);
    Map<String, String> settings = new LinkedHashMap<>();
    settings.put("workers", Integer.toString(tuning.workers()));
    settings.put("batch", bounds.owners() + " owners, " + bounds.rows() + " rows");
    settings.put("lease", bounds.leaseMillis() + " ms");
    return settings;
  }

  @Override
  public GameThread gameThread(int thread) {
    throw new UnsupportedOperationException("the game is in another process");
  }

  /** The game asks for it, and waits. */
  @Override
  public void flush() {}

  @Override
  public long rowsWritten() {
    return writer.stats().rows();
  }

  @Override
  public void close() {
    writer.close();
    redis.close();
    pool.close();
  }
}
