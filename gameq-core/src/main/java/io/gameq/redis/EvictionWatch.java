package io.gameq.redis;

import io.gameq.log.RepeatedWarnings;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Notices a Redis whose eviction policy is changed while gameq runs: it could drop rows that wait.
 * Used by one thread.
 */
public final class EvictionWatch {
  private static final Logger LOG = LoggerFactory.getLogger(EvictionWatch.class);

  private static final long EVERY_NANOS = TimeUnit.SECONDS.toNanos(3);
  private static final long COMPLAIN_EVERY_SECONDS = 60;

  private final RepeatedWarnings complaints = new RepeatedWarnings(COMPLAIN_EVERY_SECONDS);
  private long askedNanos = System.nanoTime() - EVERY_NANOS;
  private boolean evicts;

  /**
   * Whether Redis may evict; asks, at most every 3 s, and logs an error while it may.
   *
   * @throws io.gameq.GameQueueException when Redis does not answer
   */
  public boolean mayEvict(ControlConnection redis) {
    if (System.nanoTime() - askedNanos < EVERY_NANOS) {
      return evicts;
    }
    askedNanos = System.nanoTime();
    String policy = redis.call(RedisServerCheck::evictionPolicy);
    boolean evicted = evicts;
    evicts = !policy.equals(RedisServerCheck.NO_EVICTION);
    if (evicts) {
      complaints.about("eviction", LOG::error, () -> RedisServerCheck.mayEvict(policy));
    } else if (evicted) {
      LOG.info("Redis has maxmemory-policy {} again", policy);
    }
    return evicts;
  }
}
