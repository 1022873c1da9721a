package io.gameq.lab.compare;

import io.gameq.lab.contender.ContenderSetup;
import io.gameq.lab.contender.ContenderType;
import io.gameq.lab.load.GcPauses;
import io.gameq.lab.load.Load;
import io.gameq.lab.load.Threads;
import io.gameq.lab.redis.BacklogProbe;
import io.gameq.lab.redis.RedisMemory;
import io.gameq.lab.report.Figures;
import io.gameq.lab.workload.BenchException;
import io.gameq.redis.RedisConnector;
import io.gameq.redis.RedisConnector.RedisConfig;
import io.gameq.redis.SlotKeys;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import org.HdrHistogram.Histogram;

/**
 * What a load of a given pace is like while it lasts: a tenth of its time after the other, looked
 * at on a thread of its own, until it is closed.
 */
final class LoadSamples implements AutoCloseable {
  private static final int TIMES = 10;
  private static final long MILLIS_FOR_THE_LAST = 10_000;

  private final List<Sample> samples = new ArrayList<>();
  private final Load load;
  private final int rowsPerAction;
  private final GcPauses pauses = new GcPauses();
  private final RedisConnector connector;
  private final RedisMemory redis;
  private final BacklogProbe backlog;
  private final boolean waitsInRedis;
  private final ScheduledExecutorService timer = Threads.timer("compare-samples");
  private final ScheduledFuture<?> looking;
  private final long began;
  private double lastSecond;

  /**
   * One look.
   *
   * @param second since the beginning
   * @param values of the time since the look before
   */
  record Sample(double second, List<Figures.Value> values) {}

  LoadSamples(ChildJob job, ContenderType type, Load load) {
    this.load = load;
    ContenderSetup setup = job.setup();
    rowsPerAction = setup.shape().rowsPerAction();
    waitsInRedis = type.is(ContenderType.Trait.OWN_WRITER);
    connector = new RedisConnector(new RedisConfig(setup.place().redisUri()));
    redis = new RedisMemory(connector);
    backlog =
        new BacklogProbe(connector, SlotKeys.all(setup.place().name(), setup.tuning().slots()));
    // What they connect and load for their first answer is no part of the first look.
    long unused = redis.usedBytes() + backlog.owners();
    began = System.nanoTime();
    long everyMillis = (long) (job.seconds() * 1e3) / TIMES;
    looking =
        timer.scheduleAtFixedRate(this::look, everyMillis, everyMillis, TimeUnit.MILLISECONDS);
  }

  private void look() {
    double second = (System.nanoTime() - began) / 1e9;
    Histogram queued = load.latestQueuedNanos();
    Figures figures = new Figures();
    String part = "sample";
    figures.add(
        part, "row changes", "1/s", queued.getTotalCount() * rowsPerAction / (second - lastSecond));
    for (double percentile : new double[] {50, 99, 100}) {
      figures.add(
          part,
          percentile == 100 ? "longest" : String.format(Locale.ROOT, "p%.0f", percentile),
          "us",
          queued.getValueAtPercentile(percentile) / 1e3);
    }
    figures.add(part, "heap after the last collection", "MB", pauses.heapBytesAfterLast() / 1e6);
    figures.add(part, "longest collection", "ms", (double) pauses.takeLongestMillis());
    figures.add(part, "Redis memory", "MB", redis.usedBytes() / 1e6);
    if (waitsInRedis) {
      figures.add(part, "owners that wait", "", (double) backlog.owners());
    }
    samples.add(new Sample(second, figures.values(part)));
    lastSecond = second;
  }

  /** Once it is closed. */
  List<Sample> all() {
    return samples;
  }

  /** The look that is due at the end is waited for. */
  @Override
  public void close() throws InterruptedException {
    timer.shutdown();
    boolean ended = timer.awaitTermination(MILLIS_FOR_THE_LAST, TimeUnit.MILLISECONDS);
    pauses.close();
    backlog.close();
    redis.close();
    connector.close();
    if (!ended) {
      throw new BenchException("Redis did not answer the last look");
    }
    if (looking.isDone() && !looking.isCancelled()) {
      try {
        Object unused = looking.get();
      } catch (ExecutionException e) {
        throw new BenchException("a look at the load failed: " + e.getMessage(), e);
      }
    }
  }
}
