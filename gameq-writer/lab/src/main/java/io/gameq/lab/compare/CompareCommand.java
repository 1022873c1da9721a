package io.gameq.lab.compare;

import io.gameq.lab.contender.ContenderSetup;
import io.gameq.lab.contender.gameq.GameqSource;
import io.gameq.lab.mysql.BenchTables;
import io.gameq.lab.mysql.ScratchDatabase;
import io.gameq.lab.redis.RedisMemory;
import io.gameq.lab.report.BenchResult;
import io.gameq.lab.report.ResultJson;
import io.gameq.lab.report.RunConditions;
import io.gameq.lab.scratch.Interruption;
import io.gameq.lab.scratch.ScratchDirectory;
import io.gameq.lab.scratch.ScratchOptions;
import io.gameq.lab.scratch.ScratchServers;
import io.gameq.lab.workload.Range;
import io.gameq.lab.workload.Workload;
import io.gameq.lab.workload.WorkloadOptions;
import io.gameq.redis.RedisConnector;
import io.gameq.redis.RedisConnector.RedisConfig;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code gameq-lab compare}: the command line of the comparison. Used by the main thread. */
@Command(
    name = "compare",
    sortOptions = false,
    description = {
      "Measures gameq beside other ways to get a game's rows into MySQL: same rows, same servers,"
          + " same check; then kills each in mid-run and counts what it loses.",
      "",
      "Each measurement runs in fresh JVMs, gameq's game and writer in two; rounds interleave the"
          + " contenders. Players log in, and a warm-up runs, before the clock starts. Nothing else"
          + " may run on the machine: its processor time is counted as a whole. Without --redis and"
          + " --mysql it starts its own servers; on servers that are given it leaves nothing,"
          + " unless it is killed."
    },
    exitCodeListHeading = "%nExit codes:%n",
    exitCodeList = {
      "0:gameq lost nothing",
      "1:gameq lost or tore a change",
      "2:wrong usage, or it could not run"
    })
public final class CompareCommand implements Callable<Integer> {
  private static final String LOG_LEVEL = "org.slf4j.simpleLogger.defaultLogLevel";

  @Spec private @Nullable CommandSpec spec;
  @Mixin private final CompareOptions options = new CompareOptions();
  @Mixin private final WorkloadOptions workload = new WorkloadOptions();
  @Mixin private final ScratchOptions servers = new ScratchOptions();

  @Option(
      names = "--json",
      paramLabel = "FILE",
      description = "Write everything to this file: all rounds, options, machine, servers.")
  private @Nullable Path json;

  @Override
  public Integer call() throws IOException, InterruptedException {
    CommandSpec self = Objects.requireNonNull(spec);
    Range range = new Range(self);
    Workload.Shape shape = workload.shape(range, 0); // peers' stores delete in other ways
    options.check(range);
    range.requireDirectoryOf("--json", json);
    if (System.getProperty(LOG_LEVEL) == null) {
      System.setProperty(LOG_LEVEL, "warn");
    }
    BenchResult result = new BenchResult();
    Map<String, Map<String, String>> settings = run(shape, result, self.commandLine().getErr());
    ComparisonTable.print(result, settings, self.commandLine().getOut());
    return isFlawless(result) ? 0 : 1;
  }

  /** Of what others lose the exit code says nothing. */
  private static boolean isFlawless(BenchResult result) {
    return result.isFlawless(GameqSource.NAME + ",")
        && result.isFlawless(ComparisonTable.killsOf(GameqSource.NAME));
  }

  /** Returns the contenders' settings. */
  private Map<String, Map<String, String>> run(
      Workload.Shape shape, BenchResult result, PrintWriter err)
      throws IOException, InterruptedException {
    RunConditions conditions = new RunConditions();
    String name = "compare-" + Integer.toHexString(new SecureRandom().nextInt());
    try (ScratchDirectory directory = new ScratchDirectory("compare");
        ScratchServers running = servers.start();
        Interruption ignored = running.areEmbedded() ? null : new Interruption();
        ScratchDatabase database = new ScratchDatabase(running.mysql());
        BenchTables tables = new BenchTables(database, shape, name, options.tuning().slots());
        RedisConnector connector = new RedisConnector(new RedisConfig(running.redisUri()));
        RedisMemory redis = new RedisMemory(connector)) {
      err.println("compare: " + running.description() + "; seed " + shape.seed());
      ContenderSetup.Place place =
          new ContenderSetup.Place(
              name,
              running.redisUri(),
              running.mysql().url(),
              running.mysql().user(),
              running.mysql().password().read(),
              directory.path().toString());
      Comparison comparison =
          new Comparison(
              options,
              new TestBed(
                  new ContenderSetup(shape, options.tuning(), place, ContenderSetup.Role.GAME),
                  database.rows(),
                  redis,
                  directory,
                  new TestBed.Output(result, err)));
      try {
        comparison.run();
      } finally {
        redis.deleteMatching("*" + name + "*");
      }
      if (json != null) {
        Map<String, Object> all = options.json();
        all.putAll(shape.json());
        all.put("settings", comparison.settings());
        ResultJson.write(json, conditions.of(all, running, database), result);
        err.println("compare: wrote " + json);
      }
      return comparison.settings();
    }
  }
}
