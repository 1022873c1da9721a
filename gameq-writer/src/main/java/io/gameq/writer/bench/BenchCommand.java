package io.gameq.writer.bench;

import io.gameq.writer.bench.workload.Workload;
import io.gameq.writer.mysql.ScratchDatabase;
import io.gameq.writer.scratch.ScratchDirectory;
import io.gameq.writer.scratch.ScratchServers;
import io.gameq.writer.scratch.ServerOptions;
import java.io.IOException;
import java.io.PrintWriter;
import java.security.SecureRandom;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code gameq-writer bench}. Used by the main thread. */
@Command(
    name = "bench",
    description = "Measures commits and flushes against what Redis and MySQL alone can do.")
public final class BenchCommand implements Callable<Integer> {
  @Spec private @Nullable CommandSpec spec;
  @Mixin private final ServerOptions servers = new ServerOptions();

  @Option(names = "--actions", defaultValue = "100000")
  private long actions;

  @Option(names = "--players", defaultValue = "20000")
  private int players;

  @Option(names = "--skew", defaultValue = "0.99")
  private double skew;

  @Option(names = "--rows-per-player", defaultValue = "20")
  private int rowsPerPlayer;

  @Option(names = "--rows-per-commit", defaultValue = "3")
  private int rowsPerCommit;

  @Option(names = "--row-bytes", defaultValue = "100")
  private int rowBytes;

  @Option(names = "--deletes", defaultValue = "0")
  private double deletes;

  @Option(names = "--threads", defaultValue = "4")
  private int threads;

  @Option(names = "--rounds", defaultValue = "3")
  private int rounds;

  @Option(names = "--in-flight", defaultValue = "64")
  private int inFlight;

  @Option(names = "--workers", defaultValue = "2")
  private int workers;

  @Option(names = "--slots", defaultValue = "16")
  private int slots;

  @Option(names = "--seed", defaultValue = "1")
  private long seed;

  @Option(names = "--parts", split = ",", defaultValue = "closed,paced,pressure,drain,limits")
  private Set<BenchOptions.Part> parts = Set.of();

  @Override
  public Integer call() throws IOException, InterruptedException {
    System.setProperty("org.slf4j.simpleLogger.log.io.gameq", "warn");
    PrintWriter out = Objects.requireNonNull(spec).commandLine().getOut();
    PrintWriter err = spec.commandLine().getErr();
    BenchOptions options =
        new BenchOptions(
            new Workload.Shape(
                seed, players, skew, rowsPerPlayer, rowsPerCommit, rowBytes, deletes, threads),
            actions,
            rounds,
            inFlight,
            0,
            workers,
            slots,
            1,
            10,
            0,
            parts);
    try (ScratchDirectory directory = new ScratchDirectory("bench");
        ScratchServers running = servers.start();
        ScratchDatabase database = new ScratchDatabase(running.mysql());
        BenchWorld world =
            new BenchWorld(
                options,
                new BenchWorld.Place(
                    running,
                    database,
                    "bench-" + Integer.toHexString(new SecureRandom().nextInt()),
                    directory.path(),
                    err))) {
      out.println("servers: " + running.description());
      out.printf("logins/s: %.0f%n", world.login());
      for (int i = 0; i <= rounds; i++) {
        Round.Result r = new Round(world).run();
        r.loads().forEach((part, load) -> print(out, part.name(), load));
        if (!parts.contains(BenchOptions.Part.DRAIN) || !parts.contains(BenchOptions.Part.LIMITS)) {
          continue;
        }
        Round.Drained d = r.drained();
        out.printf(
            "DRAIN %.0f rows/s of %d, written %d, alloc/row %d cpu us/row %.1f; raw mysql %.0f rows/s (%.0f%%); raw redis %.0f actions/s  check %s%n",
            d.rowsPerSecond(),
            d.distinctRows(),
            d.rowsWritten(),
            d.used().allocatedBytes() / d.distinctRows(),
            d.used().cpuSeconds() * 1e6 / d.distinctRows(),
            r.rawMySqlRowsPerSecond(),
            100 * d.rowsPerSecond() / r.rawMySqlRowsPerSecond(),
            r.rawRedisPerSecond(),
            r.check());
      }
    }
    return 0;
  }

  private void print(PrintWriter out, String name, Load.Result r) {
    long n = r.queuedNanos().getTotalCount();
    out.printf(
        "%-9s %,8.0f actions/s  queued us p50 %.0f p99 %.0f p99.9 %.0f  call us p50 %.1f p99 %.1f  alloc/change %d B  cpu us/action %.1f gc %d/%d ms%n",
        name,
        n / r.seconds(),
        r.queuedNanos().getValueAtPercentile(50) / 1e3,
        r.queuedNanos().getValueAtPercentile(99) / 1e3,
        r.queuedNanos().getValueAtPercentile(99.9) / 1e3,
        r.callNanos().getValueAtPercentile(50) / 1e3,
        r.callNanos().getValueAtPercentile(99) / 1e3,
        r.used().allocatedBytes() / n / 3,
        r.used().cpuSeconds() * 1e6 / n,
        r.used().gcCount(),
        r.used().gcMillis());
    out.flush();
  }
}
