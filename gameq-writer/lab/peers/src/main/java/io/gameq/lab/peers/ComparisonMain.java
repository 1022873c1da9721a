package io.gameq.lab.peers;

import io.gameq.lab.bench.workload.Workload;
import io.gameq.lab.mysql.ScratchDatabase;
import io.gameq.lab.scratch.ScratchDirectory;
import io.gameq.lab.scratch.ScratchOptions;
import io.gameq.lab.scratch.ScratchServers;
import io.gameq.mysql.schema.TableSpec;
import io.gameq.terminal.ErrorLine;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.charset.Charset;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** The command line. Used by the main thread. */
@Command(
    name = "gameq-baselines",
    description =
        "Measures gameq beside other ways to get a game's rows into MySQL: same rows, same servers,"
            + " same check; then kills each in mid-run and counts what it loses.",
    mixinStandardHelpOptions = true,
    showDefaultValues = true,
    exitCodeListHeading = "%nExit codes:%n",
    exitCodeList = {
      "0:gameq lost nothing",
      "1:gameq lost or tore a change",
      "2:wrong usage, or it could not run"
    })
public final class ComparisonMain implements Callable<Integer> {
  private static final int COULD_NOT_RUN = 2;

  /** Shorter than in service, so that a kill costs seconds. */
  private static final long LEASE_MILLIS = 5_000;

  /** Before a kill; later players log in as they come. */
  private static final long ACTIONS_LOGGED_IN = 20_000;

  private static final String LOG_LEVEL = "org.slf4j.simpleLogger.defaultLogLevel";

  @Option(
      names = "--contenders",
      split = ",",
      description = "Which, in this order.",
      defaultValue = "sync-3,sync-1,seed,redisson,hazelcast,ehcache,gameq")
  private List<String> contenders = List.of();

  @Option(names = "--rounds", defaultValue = "3", description = "Measurements of each.")
  private int rounds;

  @Option(names = "--kills", defaultValue = "3", description = "kill -9 of each.")
  private int kills;

  @Option(
      names = "--actions",
      defaultValue = "100000",
      description = "Actions of a measurement, of all threads together.")
  private long actions;

  @Option(names = "--threads", defaultValue = "4", description = "Game threads.")
  private int threads;

  @Option(
      names = "--in-flight",
      defaultValue = "64",
      description =
          "Most unacknowledged actions of a thread under pressure, for contenders with an"
              + " asynchronous API; 0: closed loop alone.")
  private int inFlight;

  @Option(names = "--players", defaultValue = "20000", description = "Owners.")
  private int players;

  @Option(names = "--skew", defaultValue = "0.99", description = "Exponent of Zipf's law.")
  private double skew;

  @Option(names = "--rows-per-player", defaultValue = "20", description = "Rows of a player.")
  private int rowsPerPlayer;

  @Option(names = "--rows", defaultValue = "3", description = "Rows that an action changes.")
  private int rows;

  @Option(names = "--row-bytes", defaultValue = "100", description = "Bytes of a row.")
  private int rowBytes;

  @Option(
      names = "--writers",
      defaultValue = "2",
      description = "Threads that write to MySQL, where a contender lets one choose.")
  private int writers;

  @Option(
      names = "--merge-window-millis",
      defaultValue = "1000",
      description = "gameq's merge window.")
  private int mergeWindowMillis;

  @Option(
      names = "--warm-up",
      description =
          "Actions before a measurement, under another seed (default: a quarter of its actions).")
  private @Nullable Long warmUpActions;

  @Option(names = "--heap", defaultValue = "2g", description = "Heap of each child process.")
  private String heap = "2g";

  @Option(names = "--seed", description = "Repeats the actions of an earlier run.")
  private @Nullable Long seed;

  @Option(names = "--json", paramLabel = "FILE", description = "Writes every figure there.")
  private @Nullable Path json;

  @Option(
      names = "--note",
      paramLabel = "TEXT",
      description = "Kept in the JSON: what else the machine did, where MySQL's data lies.")
  private @Nullable String note;

  @Mixin private final ScratchOptions servers = new ScratchOptions();

  private final PrintWriter out = new PrintWriter(System.out, true, Charset.defaultCharset());
  private final PrintWriter err = new PrintWriter(System.err, true, Charset.defaultCharset());

  private ComparisonMain() {}

  public static void main(String[] args) {
    if (System.getProperty(LOG_LEVEL) == null) {
      System.setProperty(LOG_LEVEL, "warn");
    }
    ComparisonMain main = new ComparisonMain();
    System.exit(
        new CommandLine(main)
            .setExecutionExceptionHandler(
                (error, command, parsed) -> {
                  main.err.println("gameq-baselines: " + ErrorLine.of(error));
                  return COULD_NOT_RUN;
                })
            .execute(args));
  }

  @Override
  public Integer call() throws IOException, SQLException, InterruptedException {
    long chosen = seed == null ? new SecureRandom().nextInt(1_000_000) : seed;
    Workload.Shape shape =
        new Workload.Shape(chosen, players, skew, rowsPerPlayer, rows, rowBytes, 0, threads);
    List<Contenders> all = contenders.stream().map(Contenders::named).toList();
    try (ScratchDirectory directory = new ScratchDirectory("baselines");
        ScratchServers running = servers.start();
        ScratchDatabase database = new ScratchDatabase(running.mysql())) {
      err.println("servers: " + running.description() + "; seed " + chosen);
      String name = "bl-" + Integer.toHexString(new SecureRandom().nextInt());
      Job.Place place =
          new Job.Place(
              name,
              running.redisUri(),
              running.mysql().url(),
              running.mysql().user(),
              running.mysql().password(),
              directory.path().toString());
      try (Comparison comparison = new Comparison(place, heap, err)) {
        ComparisonReport report = new ComparisonReport(out);
        try {
          prepare(database, name, shape);
          for (int round = 1; round <= rounds; round++) {
            for (Contenders contender : all) {
              report.add(comparison.measure(job(place, contender, shape, 1), round));
              if (inFlight > 1 && contender.isAsynchronous()) {
                report.add(comparison.measure(job(place, contender, shape, inFlight), round));
              }
            }
          }
          Random random = new Random(chosen);
          for (int kill = 1; kill <= kills; kill++) {
            for (Contenders contender : all) {
              report.add(comparison.kill(jobToKill(place, contender, shape), random));
            }
          }
          report.print();
          if (json != null) {
            report.write(
                json,
                Setting.read(
                    running.description(),
                    comparison,
                    job(place, Contenders.GAMEQ, shape, inFlight),
                    ChildProcess.flags(heap),
                    note));
          }
        } finally {
          comparison.removeTraces(database.facts().tables().keySet());
        }
        return report.isFlawless(Contenders.GAMEQ) ? 0 : 1;
      }
    }
  }

  /** The tables of the contenders; only gameq's is managed. */
  private static void prepare(ScratchDatabase database, String name, Workload.Shape shape) {
    List<String> statements = new ArrayList<>();
    for (String table : List.of(Workload.TABLE, PeerTable.NAME)) {
      statements.add(
          ("CREATE TABLE %s (player_id BIGINT NOT NULL, slot INT NOT NULL, seq BIGINT NOT"
                  + " NULL, payload VARBINARY(%d) NOT NULL, PRIMARY KEY (player_id, slot))")
              .formatted(table, Math.max(1, shape.rowBytes() - Workload.FIXED_BYTES)));
    }
    database.run(statements);
    database.migrate(
        name, GameqContender.SLOTS, List.of(new TableSpec(Workload.TABLE, "player", "player_id")));
  }

  private Job job(Job.Place place, Contenders contender, Workload.Shape shape, int mostInFlight) {
    return new Job(
        Job.Mode.MEASURE, contender.text(), mostInFlight, shape, settings(actions), place);
  }

  private Job jobToKill(Job.Place place, Contenders contender, Workload.Shape shape) {
    return new Job(
        Job.Mode.BE_KILLED, contender.text(), 1, shape, settings(ACTIONS_LOGGED_IN), place);
  }

  private Job.Settings settings(long mostActions) {
    long warmUp = warmUpActions == null ? mostActions / 4 : warmUpActions;
    return new Job.Settings(mostActions, warmUp, writers, mergeWindowMillis, LEASE_MILLIS);
  }
}
