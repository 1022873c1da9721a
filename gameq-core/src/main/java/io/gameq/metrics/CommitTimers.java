package io.gameq.metrics;

import io.gameq.sign.NodeCounts.CommitTimes;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.Timer;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.concurrent.TimeUnit;
import java.util.stream.LongStream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Histograms of how long commits take. Thread-safe; a registry that throws is asked no more, since
 * the threads that call this carry the commits.
 */
final class CommitTimers implements CommitTimes {
  private static final Logger LOG = LoggerFactory.getLogger(CommitTimers.class);

  /** A commit takes a quarter of a millisecond; a failover some seconds. */
  private static final long[] TO_REDIS_MICROS = {
    100,
    250,
    500,
    1_000,
    2_500,
    5_000,
    10_000,
    25_000,
    50_000,
    100_000,
    250_000,
    1_000_000,
    5_000_000,
    30_000_000
  };

  /** Most wait for the merge window, a second by default, and a flush. */
  private static final long[] TO_MYSQL_MILLIS = {
    50, 100, 250, 500, 750, 1_000, 1_250, 1_500, 2_000, 3_000, 5_000, 10_000, 30_000, 60_000,
    300_000
  };

  private final Timer toRedis;
  private final Timer toMySql;
  private volatile boolean broken;

  CommitTimers(MeterRegistry registry, Tags tags) {
    toRedis =
        Timer.builder("gameq.node.queued")
            .description("From a commit until Redis has it")
            .tags(tags)
            .serviceLevelObjectives(bounds(TO_REDIS_MICROS, ChronoUnit.MICROS))
            .register(registry);
    toMySql =
        Timer.builder("gameq.node.durable")
            .description("From a commit until MySQL is known to have it")
            .tags(tags)
            .serviceLevelObjectives(bounds(TO_MYSQL_MILLIS, ChronoUnit.MILLIS))
            .register(registry);
  }

  private static Duration[] bounds(long[] of, ChronoUnit unit) {
    return LongStream.of(of).mapToObj(bound -> Duration.of(bound, unit)).toArray(Duration[]::new);
  }

  @Override
  public void queued(long nanos) {
    record(toRedis, nanos);
  }

  @Override
  public void durable(long nanos) {
    record(toMySql, nanos);
  }

  private void record(Timer timer, long nanos) {
    if (broken) {
      return;
    }
    try {
      timer.record(nanos, TimeUnit.NANOSECONDS);
    } catch (RuntimeException | LinkageError e) {
      broken = true;
      LOG.error("the game's meter registry fails: how long commits take is not told any more", e);
    }
  }
}
