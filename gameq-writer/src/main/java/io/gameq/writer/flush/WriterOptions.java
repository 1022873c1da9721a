package io.gameq.writer.flush;

import io.gameq.mysql.flush.FlushPlan;
import io.gameq.redis.script.ClaimScript;
import io.gameq.redis.script.SessionScripts;
import java.time.Duration;
import java.util.concurrent.ThreadLocalRandom;

/**
 * How a writer works; immutable.
 *
 * @param name names this writer in Redis and logs: no spaces
 * @param workers threads, each with a connection to Redis and one to MySQL
 * @param bounds what one claim takes
 * @param patience when rows are set aside
 * @param tombstonesKept how long deleted rows are remembered
 * @param rowsPerSecond most rows that this writer takes in a second; {@link #NO_CEILING}
 */
public record WriterOptions(
    String namespace,
    int slots,
    String name,
    int workers,
    ClaimScript.Bounds bounds,
    FlushPlan.Patience patience,
    Duration tombstonesKept,
    int rowsPerSecond) {
  /** As many rows a second as MySQL takes. */
  public static final int NO_CEILING = 0;

  /**
   * What another flush may cure is tried for half a minute; a half of a handover waits for as long
   * as Redis remembers who had the other one.
   */
  public static final FlushPlan.Patience DEFAULT_PATIENCE =
      new FlushPlan.Patience(5, 30_000, SessionScripts.KEPT_MILLIS, 15, 100_000);

  /** Far beyond any backlog in Redis or in a WAL that is worth replaying. */
  public static final Duration DEFAULT_TOMBSTONES_KEPT = Duration.ofDays(30);

  private static final long FIRST_RETRY_MILLIS = 500;
  private static final int MOST_DOUBLINGS = 6;

  /**
   * How long an owner with a refused row waits after an attempt, ms: doubled with each, with
   * jitter. Not beyond the end of {@link #patience}: the attempt that sets a row aside comes then.
   */
  long retryDelayMillis(int attempts, long refusedForMillis) {
    long delay = FIRST_RETRY_MILLIS << Math.min(Math.max(0, attempts - 1), MOST_DOUBLINGS);
    long withJitter = delay / 2 + ThreadLocalRandom.current().nextLong(delay / 2 + 1);
    long left = patience.millis() - refusedForMillis;
    return left > 0 ? Math.min(withJitter, left) : withJitter;
  }
}
