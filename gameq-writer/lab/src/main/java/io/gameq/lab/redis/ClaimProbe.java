package io.gameq.lab.redis;

import io.gameq.redis.ControlConnection;
import io.gameq.redis.RedisConnector;
import io.gameq.redis.SlotKeys;
import io.gameq.redis.Slots;
import io.gameq.redis.script.ClaimScript;
import java.util.List;
import org.HdrHistogram.Histogram;

/** Calls {@code claim.lua} as a writer would and gives back what it took. One thread. */
public final class ClaimProbe implements AutoCloseable {
  private static final int DIGITS = 3;

  private final ControlConnection connection;
  private final ClaimScript claims;
  private final ClaimScript.Bounds bounds;

  /** Probes with these bounds. */
  public ClaimProbe(RedisConnector redis, ClaimScript.Bounds bounds) {
    connection = new ControlConnection(redis);
    claims = new ClaimScript("bench-probe", bounds);
    this.bounds = bounds;
  }

  /**
   * What calls cost.
   *
   * @param nanos of each call, decoding included
   * @param rows claimed by all calls
   */
  public record Result(Histogram nanos, long rows) {
    /** Rows of a call on average; 0 without a call. */
    public double rowsPerCall() {
      return nanos.getTotalCount() == 0 ? 0 : (double) rows / nanos.getTotalCount();
    }
  }

  /** Claims slot after slot; the first calls load the script and are not counted. */
  public Result run(Slots slots, int calls) {
    Histogram nanos = new Histogram(DIGITS);
    long rows = 0;
    int warmUp = Math.max(1, calls / 10);
    for (int i = -warmUp; i < calls; i++) {
      SlotKeys slot = slots.get((i + warmUp) % slots.count());
      List<ClaimScript.Share> all =
          List.of(new ClaimScript.Share(slot, bounds.owners(), bounds.rows()));
      long began = System.nanoTime();
      ClaimScript.Batch batch =
          connection.call(redis -> claims.callEach(redis, all, false).get(0).get());
      long took = System.nanoTime() - began;
      if (i >= 0) {
        nanos.recordValue(took);
        rows += batch.claims().stream().mapToLong(claim -> claim.rows().size()).sum();
      }
      if (!batch.claims().isEmpty()) {
        connection.call(redis -> ClaimScript.nack(redis, slots, 0, false, batch.claims()));
      }
    }
    return new Result(nanos, rows);
  }

  @Override
  public void close() {
    connection.close();
  }
}
