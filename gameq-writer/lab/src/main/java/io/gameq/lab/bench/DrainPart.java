package io.gameq.lab.bench;

import io.gameq.lab.load.Resources;
import io.gameq.lab.report.Figures;
import io.gameq.lab.workload.BenchException;
import io.gameq.writer.service.WriterService;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;

/** Writers that empty Redis while nobody commits. One thread. */
final class DrainPart {
  private static final long LIMIT_SECONDS = 3_600;

  private final BenchWorld world;

  DrainPart(BenchWorld world) {
    this.world = world;
  }

  /**
   * What a drain came to.
   *
   * @param distinctRows that waited
   * @param rowsWritten to MySQL
   * @param seconds from when the first writer ran until the last row was acknowledged
   */
  record Result(long distinctRows, long rowsWritten, double seconds, Resources.Used used) {
    double rowsPerSecond() {
      return distinctRows / seconds;
    }

    void addTo(Figures figures, String part) {
      figures.add(part, "rows", "1/s", rowsPerSecond());
      figures.add(part, "rows written for each distinct row", "", ratio((double) rowsWritten));
      figures.add(part, "allocated for each row", "B", ratio((double) used.allocatedBytes()));
      figures.add(part, "processor for each row", "us", ratio(used.cpuSeconds() * 1e6));
    }

    private double ratio(double of) {
      return of / Math.max(1, distinctRows);
    }
  }

  /** With one writer of all its workers. */
  Result run(long rows) throws InterruptedException {
    return run(rows, 1, world.options().workers());
  }

  /**
   * Waits out the merge window, so that all rows are due, and drains.
   *
   * @param rows different ones that wait
   * @throws BenchException when that takes more than an hour
   */
  Result run(long rows, int writers, int workers) throws InterruptedException {
    TimeUnit.MILLISECONDS.sleep(world.options().mergeWindowMillis());
    List<WriterService> running = new ArrayList<>();
    Resources before = Resources.now();
    try {
      running.add(world.startWriter("bench-writer-1", workers));
      long began = System.nanoTime(); // its start, which checks the servers, is no draining
      for (int i = 2; i <= writers; i++) {
        running.add(world.startWriter("bench-writer-" + i, workers));
      }
      while (written(running) < rows) {
        giveUpAfterLimit(began, running, rows);
        TimeUnit.MILLISECONDS.sleep(1);
      }
      double seconds = (System.nanoTime() - began) / 1e9;
      Resources.Used used = before.usedSince();
      while (world.backlog().owners() > 0) {
        giveUpAfterLimit(began, running, rows);
        TimeUnit.MILLISECONDS.sleep(1);
      }
      return new Result(rows, written(running), seconds, used);
    } finally {
      running.forEach(WriterService::close);
    }
  }

  private static long written(List<WriterService> writers) {
    return writers.stream().mapToLong(writer -> writer.stats().rows()).sum();
  }

  private void giveUpAfterLimit(long began, List<WriterService> writers, long rows) {
    if (System.nanoTime() - began > TimeUnit.SECONDS.toNanos(LIMIT_SECONDS)) {
      throw new BenchException(
          String.format(
              Locale.ROOT,
              "only %,d of %,d rows were flushed within %d s, and %,d owners wait",
              written(writers),
              rows,
              LIMIT_SECONDS,
              world.backlog().owners()));
    }
  }
}
