package io.gameq.lab.bench;

import io.gameq.lab.bench.plot.GrowthPlots;
import io.gameq.lab.mysql.ScratchDatabase;
import io.gameq.lab.report.BenchResult;
import io.gameq.lab.report.Report;
import io.gameq.lab.report.ResultJson;
import io.gameq.lab.report.RunConditions;
import io.gameq.lab.scratch.Interruption;
import io.gameq.lab.scratch.ScratchDirectory;
import io.gameq.lab.scratch.ScratchOptions;
import io.gameq.lab.scratch.ScratchServers;
import io.gameq.lab.workload.Range;
import io.gameq.lab.workload.WorkloadOptions;
import io.gameq.mysql.MySqlPool.MySqlConfig;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code gameq-lab bench}: the command line of the benchmark. Used by the main thread. */
@Command(
    name = "bench",
    sortOptions = false,
    description = {
      "Measures commits and flushes, and what Redis and MySQL alone can do with the same bytes.",
      "",
      "In each round, with every player logged in: closed (each thread waits for its commit), paced"
          + " (actions are due at half the speed of closed, and latency counts from when they were"
          + " due, whatever became of those before), pressure (as fast as --in-flight allows),"
          + " drain (a writer empties Redis), limits (the same commands through one plain socket;"
          + " the final rows as sorted upserts).",
      "Once: both (game and writer at once), backlog (rows that wait: memory, rewrites, claims,"
          + " drain), recovery (Redis loses all keys), topics (messages: published, handled,"
          + " late, merged, waiting).",
      "MySQL is compared with what must be there after each.",
      "",
      "Without --redis and --mysql it starts its own Redis and MariaDB, which end with it. On"
          + " servers that are given it leaves nothing, unless it is killed: then tables bench_row,"
          + " peer_row and gameq_*, and keys of Redis that begin with {bench- or {raw-bench-."
    },
    exitCodeListHeading = "%nExit codes:%n",
    exitCodeList = {
      "0:measured, and MySQL held what it must after each part",
      "1:a change was lost, torn or damaged",
      "2:wrong usage, or it could not run"
    })
public final class BenchCommand implements Callable<Integer> {
  private static final List<String> LOG_LEVELS =
      List.of("org.slf4j.simpleLogger.log.io.gameq", "org.slf4j.simpleLogger.log.io.lettuce");

  /** Beside the workers': checks, ageing, raw runs. */
  private static final int MORE_CONNECTIONS = 8;

  /** Writers of the longest growth curve. */
  private static final int MOST_WRITERS = 8;

  @Spec private @Nullable CommandSpec spec;
  @Mixin private final WorkloadOptions workload = new WorkloadOptions();
  @Mixin private final MeasureOptions measure = new MeasureOptions();
  @Mixin private final GrowthOptions growth = new GrowthOptions();
  @Mixin private final ScratchOptions servers = new ScratchOptions();

  @Option(
      names = "--json",
      paramLabel = "FILE",
      description = "Write everything to this file: all rounds, options, machine, servers.")
  private @Nullable Path json;

  @Option(
      names = "--plot",
      paramLabel = "FILE",
      description = "Measure nothing: draw the growth curves of such a file.")
  private @Nullable Path plot;

  @Option(
      names = "--out",
      paramLabel = "DIR",
      defaultValue = ".",
      description =
          "Where --plot writes growth-players.svg and so on (default: the current directory).")
  private Path plotDirectory = Path.of(".");

  @Override
  public Integer call() throws IOException, InterruptedException {
    CommandSpec self = Objects.requireNonNull(spec);
    PrintWriter out = self.commandLine().getOut();
    if (plot != null) {
      GrowthPlots.write(ResultJson.read(plot), plotDirectory).forEach(out::println);
      return 0;
    }
    Range range = new Range(self);
    range.checkShare("--deletes", measure.deletes());
    BenchOptions options =
        measure.options(range, workload.shape(range, measure.deletes()), !growth.kinds().isEmpty());
    growth.check(range, options.shape());
    range.requireDirectoryOf("--json", json);
    // A node that stops beside waiting rows, or heals, warns; here that is as it should be.
    for (String level : LOG_LEVELS) {
      if (System.getProperty(level) == null) {
        System.setProperty(level, "error");
      }
    }
    return run(options, out, self.commandLine().getErr());
  }

  private int run(BenchOptions options, PrintWriter out, PrintWriter err)
      throws IOException, InterruptedException {
    RunConditions conditions = new RunConditions();
    BenchResult result = new BenchResult();
    err.println("bench: starting servers");
    try (ScratchDirectory directory = new ScratchDirectory("bench");
        ScratchServers running = servers.start();
        Interruption ignored = running.areEmbedded() ? null : new Interruption();
        ScratchDatabase database = new ScratchDatabase(pool(running.mysql(), options))) {
      err.println("bench: " + running.description());
      var place = new BenchWorld.Place(running, database, directory.path(), err);
      new BenchRun(options, place, result).run();
      new Growth(options, place, result).run(growth.kinds(), growth.most());
      out.println("servers: " + running.description());
      if (json != null) {
        ResultJson.write(json, conditions.of(options(options), running, database), result);
        err.println("bench: wrote " + json);
      }
    }
    new Report(out).print(result);
    return result.isFlawless() ? 0 : 1;
  }

  private static MySqlConfig pool(MySqlConfig of, BenchOptions options) {
    return of.withPoolSize(connections(options));
  }

  /** That writers take at most, and as many for everything else. */
  static int connections(BenchOptions options) {
    return Math.max(options.workers(), MOST_WRITERS) + MORE_CONNECTIONS;
  }

  private Map<String, Object> options(BenchOptions options) {
    Map<String, Object> all = options.json();
    all.put("growth", growth.kinds().stream().map(GrowthKind::label).toList());
    all.put("growthMax", growth.most());
    return all;
  }
}
