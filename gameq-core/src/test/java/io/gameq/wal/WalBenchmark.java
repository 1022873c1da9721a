package io.gameq.wal;

import io.gameq.change.Commit;
import io.gameq.config.WalLimits;
import io.gameq.config.WalSync;
import io.gameq.wal.WalReader.WalReport;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Random;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Measures appending and reading; run by hand, see CONTRIBUTING.md.
 *
 * <pre>
 * java ... io.gameq.wal.WalBenchmark [directory] [records to read back]
 * </pre>
 */
final class WalBenchmark {
  private static final int ROWS = 3;
  private static final int ROW_BYTES = 100;
  private static final int WARM_UP = 200_000;

  private WalBenchmark() {}

  public static void main(String[] args) throws IOException {
    Path parent = Files.createDirectories(Path.of(args[0]));
    long records = Long.parseLong(args[1]);
    Commit commit = WalSpecimen.commit(noise(ROW_BYTES - 17), ROWS);
    append("warm-up", parent, WalSync.OFF, WARM_UP, 1, commit);
    append("no sync", parent, WalSync.OFF, 2_000_000, 1, commit);
    append("sync per group of 1", parent, WalSync.GROUP, 2_000, 1, commit);
    append("sync per group of 16", parent, WalSync.GROUP, 32_000, 16, commit);
    append("sync per group of 256", parent, WalSync.GROUP, 256_000, 256, commit);
    read(parent, records, commit);
  }

  private static byte[] noise(int bytes) {
    byte[] noise = new byte[bytes];
    new Random(1).nextBytes(noise);
    return noise;
  }

  private static WalWriter writer(Path parent, WalSync sync) {
    return WalSpecimen.writer(
        parent,
        "%08x".formatted(new Random().nextInt()),
        WalLimits.of(Duration.ZERO, 1L << 40, 1L << 30, sync));
  }

  private static void append(
      String what, Path parent, WalSync sync, int commits, int group, Commit commit) {
    try (WalWriter wal = writer(parent, sync)) {
      long start = System.nanoTime();
      long startCpu = cpuNanos();
      for (int i = 1; i <= commits; i++) {
        wal.append(commit);
        if (i % group == 0) {
          wal.sync();
        }
      }
      long nanos = System.nanoTime() - start;
      System.out.printf(
          "append, %-22s %,9d commits of %d rows of %d bytes: %,8d ns a commit (%,d of CPU)%n",
          what, commits, ROWS, ROW_BYTES, nanos / commits, (cpuNanos() - startCpu) / commits);
      wal.complete();
    }
  }

  private static void read(Path parent, long records, Commit commit) {
    try (WalWriter wal = writer(parent, WalSync.OFF)) {
      for (long i = 0; i < records; i++) {
        wal.append(commit);
      }
      for (int round = 1; round <= 3; round++) {
        AtomicLong rows = new AtomicLong();
        long start = System.nanoTime();
        long startCpu = cpuNanos();
        WalReport report = WalReader.read(wal.directory(), entry -> count(entry, rows));
        double seconds = (System.nanoTime() - start) / 1e9;
        double cpuSeconds = (cpuNanos() - startCpu) / 1e9;
        System.out.printf(
            "read %,d records, %,d MB in %.1f s (%.1f s of CPU): %,.0f records/s, %,.0f rows/s%n",
            report.records(),
            report.bytes() / 1_000_000,
            seconds,
            cpuSeconds,
            report.records() / seconds,
            rows.get() / seconds);
      }
      long start = System.nanoTime();
      WalReport report =
          WalReader.read(wal.directory(), records - 1000, Long.MAX_VALUE, entry -> {});
      System.out.printf(
          "read the last %,d records: %d ms%n",
          report.records(), (System.nanoTime() - start) / 1_000_000);
      wal.complete();
    }
  }

  /** Of this thread: what counts where other programs use the same cores. */
  private static long cpuNanos() {
    return ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime();
  }

  private static void count(WalRecord.Entry entry, AtomicLong rows) {
    if (entry.record() instanceof WalRecord.Committed committed) {
      committed.parts().forEach(part -> rows.addAndGet(part.rows().size()));
    }
  }
}
