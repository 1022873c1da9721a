package io.gameq.lab.bench;

import io.gameq.lab.bench.BenchOptions.Part;
import io.gameq.lab.load.GcPauses;
import io.gameq.lab.load.Load;
import io.gameq.lab.load.Threads;
import io.gameq.lab.report.BenchResult;
import io.gameq.lab.report.Figures;
import io.gameq.lab.report.Series;
import io.gameq.lab.workload.BenchException;
import io.gameq.writer.service.WriterService;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;

/** Looks once a second, on a thread of its own, until it is closed. */
final class BothSamples implements AutoCloseable {
  private static final String NAME = Part.BOTH.label();
  private static final String CHANGES = "row changes";
  private static final String WRITTEN = "rows written";
  private static final String BACKLOG = "backlog";
  private static final String HEAP = "heap after the last collection";
  private static final String REDIS = "Redis memory";

  /** What must not grow, by its unit. */
  private static final Map<String, String> WATCHED =
      Map.of(BACKLOG, "owners", HEAP, "MB", REDIS, "MB");

  private final BenchWorld world;
  private final Load load;
  private final WriterService writer;
  private final BenchResult result;
  private final GcPauses pauses = new GcPauses();
  private final ScheduledExecutorService timer = Threads.timer("bench-samples");
  private final ScheduledFuture<?> looking;
  private final long began = System.nanoTime();
  private long lastActed;
  private long lastWritten;
  private double lastSecond;

  BothSamples(BenchWorld world, Load load, WriterService writer, BenchResult result) {
    this.world = world;
    this.load = load;
    this.writer = writer;
    this.result = result;
    looking = timer.scheduleAtFixedRate(this::look, 1, 1, TimeUnit.SECONDS);
  }

  private void look() {
    double second = (System.nanoTime() - began) / 1e9;
    long acted = load.acted();
    long written = writer.stats().rows();
    int rowsPerAction = world.options().shape().rowsPerAction();
    double passed = second - lastSecond;
    double changesPerSecond = (acted - lastActed) * rowsPerAction / passed;
    double writtenPerSecond = (written - lastWritten) / passed;
    lastActed = acted;
    lastWritten = written;
    lastSecond = second;
    long backlog = world.backlog().owners();
    double redis = world.memory().usedBytes() / 1e6;
    series(CHANGES, "1/s").add(second, changesPerSecond);
    series(WRITTEN, "1/s").add(second, writtenPerSecond);
    series(BACKLOG, "owners").add(second, (double) backlog);
    series(REDIS, "MB").add(second, redis);
    if (pauses.heapBytesAfterLast() > 0) {
      series(HEAP, "MB").add(second, pauses.heapBytesAfterLast() / 1e6);
    }
    world.progress(
        String.format(
            Locale.ROOT,
            "both: %,4.0f s  %,9.0f row changes/s  %,9.0f rows to MySQL/s  %,7d owners wait  Redis"
                + " %,.1f MB",
            second,
            changesPerSecond,
            writtenPerSecond,
            backlog,
            redis));
  }

  private Series series(String what, String unit) {
    return result.series(NAME, what, unit);
  }

  /** Adds the mean and the growth of what must not grow; growth from three samples on. */
  static void addGrowth(Figures figures, BenchResult result) {
    WATCHED.entrySet().stream()
        .sorted(Map.Entry.comparingByKey())
        .forEach(
            of -> {
              Series series = result.series(NAME, of.getKey(), of.getValue());
              figures.add(NAME, of.getKey() + ", mean", of.getValue(), series.mean());
              series
                  .growthPerSecond()
                  .ifPresent(
                      growth ->
                          figures.add(
                              NAME, of.getKey() + ", growth", of.getValue() + "/s", growth));
            });
  }

  @Override
  public void close() throws InterruptedException {
    looking.cancel(false);
    timer.shutdown();
    boolean ended = timer.awaitTermination(10, TimeUnit.SECONDS);
    pauses.close();
    if (!ended) {
      throw new BenchException("Redis did not answer the last look within 10 s");
    }
  }
}
