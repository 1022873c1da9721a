package io.gameq.lab.demo;

import io.gameq.lab.demo.game.DemoGame;
import io.gameq.lab.demo.generated.GeneratedGame;
import io.gameq.lab.demo.sample.SampleGame;
import io.gameq.lab.mysql.ScratchDatabase;
import io.gameq.lab.scratch.ScratchDirectory;
import io.gameq.lab.scratch.ScratchOptions;
import io.gameq.lab.scratch.ScratchServers;
import java.io.IOException;
import java.io.InputStream;
import java.io.PrintWriter;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** {@code gameq-lab demo}: the command line of the demo. Used by the main thread. */
@Command(
    name = "demo",
    description = {
      "Plays a small game on real servers and verifies that nothing was lost.",
      "Without --redis and --mysql it starts its own Redis and MariaDB, which end with it."
    },
    exitCodeListHeading = "%nExit codes:%n",
    exitCodeList = {
      "0:every row in MySQL is as the game's memory holds it",
      "1:a row was lost, stale or resurrected, or a commit failed",
      "2:wrong usage, or the demo could not run"
    })
public final class DemoCommand implements Callable<Integer> {
  private static final String LOG_LEVEL = "org.slf4j.simpleLogger.log.io.gameq";
  private static final int MOST_NODES = 16;

  @Spec private @Nullable CommandSpec spec;

  @Option(names = "--seconds", defaultValue = "20", description = "How long to play (default 20).")
  private int seconds;

  @Option(names = "--players", defaultValue = "2000", description = "Players (default 2000).")
  private int players;

  @Option(names = "--nodes", defaultValue = "2", description = "Game nodes (default 2).")
  private int nodes;

  @Option(names = "--writers", defaultValue = "2", description = "Writers (default 2).")
  private int writers;

  @Option(
      names = "--rate",
      defaultValue = "2000",
      description =
          "Commits per second of all nodes together; 0: no limit (default 2000: with the default"
              + " players, each changes something once a second).")
  private int rate;

  @Option(names = "--seed", description = "Repeats the choices of an earlier run.")
  private @Nullable Long seed;

  @Mixin private final ScratchOptions servers = new ScratchOptions();

  @Option(
      names = "--redis-ca",
      paramLabel = "FILE",
      description = "PEM file of the CAs to trust with rediss:// (default: those of the JVM).")
  private @Nullable Path redisCa;

  @Option(
      names = "--mysql-ca",
      paramLabel = "FILE",
      description = "PEM file of the CAs to trust over TLS, which is used for certain then.")
  private @Nullable Path mysqlCa;

  @Option(
      names = "--schema",
      paramLabel = "FILE",
      description = "Load this SQL and play over every table that has an owner column.")
  private @Nullable Path schema;

  @Option(
      names = "--owner-column",
      paramLabel = "NAME",
      description =
          "With --schema, a column that names a row's owner; several times for several (default:"
              + " those that are guessed from keys and foreign keys, as by schema init).")
  private List<String> ownerColumns = new ArrayList<>();

  @Option(
      names = "--fix",
      description = {
        "With --schema, change tables in the demo's database as 'schema check --fix-sql' proposes,",
        "and leave out triggers, procedures, functions and events."
      })
  private boolean fix;

  @Option(names = "--no-data", description = "With --schema, leave out its INSERT statements.")
  private boolean noData;

  @Option(names = "--break-verification", hidden = true)
  private boolean breakVerification;

  @Override
  public Integer call() throws IOException, InterruptedException {
    // The report is the output; what nodes and writers do well need not be logged. A setting wins.
    if (System.getProperty(LOG_LEVEL) == null) {
      System.setProperty(LOG_LEVEL, "warn");
    }
    CommandSpec self = Objects.requireNonNull(spec);
    check(seconds >= 1 && seconds <= 3_600, "--seconds must be 1 to 3600");
    check(players >= 2 && players <= 100_000, "--players must be 2 to 100000");
    check(nodes >= 1 && nodes <= MOST_NODES, "--nodes must be 1 to " + MOST_NODES);
    check(writers >= 1 && writers <= MOST_NODES, "--writers must be 1 to " + MOST_NODES);
    check(rate >= 0, "--rate must not be negative");
    check(schema != null || !(fix || noData), "--fix and --no-data want --schema FILE");
    PrintWriter out = self.commandLine().getOut();
    PrintWriter err = self.commandLine().getErr();
    long chosen = seed == null ? new SecureRandom().nextInt(1_000_000) : seed;
    DemoOptions options =
        new DemoOptions(seconds, players, nodes, writers, rate, chosen, breakVerification);

    out.printf(
        Locale.ROOT,
        "demo: %d players on %d nodes, %d writers, %d s, seed %d (again: --seed %d)%n",
        players,
        nodes,
        writers,
        seconds,
        chosen,
        chosen);
    if (rate > 0) {
      out.printf(
          Locale.ROOT,
          "pace: %,d commits/s: a player changes something every %.1f s, a few far more often%n",
          rate,
          (double) players / rate);
    }
    out.flush();
    try (ScratchDirectory directory = new ScratchDirectory("demo");
        ScratchServers running = servers.start(redisCa, mysqlCa);
        ScratchDatabase database = new ScratchDatabase(running.mysql())) {
      out.println("servers: " + running.description());
      out.flush();
      String namespace = "demo-" + Integer.toHexString(new SecureRandom().nextInt());
      DemoGame game = game(database, namespace, chosen, out);
      DemoReport report;
      try (DemoRun run =
          new DemoRun(
              options,
              running,
              database,
              game,
              new DemoRun.Place(namespace, directory.path(), err))) {
        report = run.play();
      }
      report.print(out);
      return report.flawless() ? 0 : 1;
    }
  }

  private DemoGame game(ScratchDatabase database, String namespace, long chosen, PrintWriter out)
      throws IOException {
    if (schema != null) {
      database.runAlone(
          SchemaScript.within(
              schema,
              SqlScript.statements(Files.readAllBytes(schema)),
              database.others(),
              out::println,
              new SchemaScript.Choice(noData, fix)));
      return GeneratedGame.over(
          database,
          new GeneratedGame.Plan(namespace, DemoRun.SLOTS, ownerColumns, fix, chosen, out));
    }
    database.run(
        SqlScript.statements(resource("schema.sql")).stream()
            .map(SqlScript.Statement::sql)
            .toList());
    return new SampleGame(database.migrate(namespace, DemoRun.SLOTS, SampleGame.TABLES), chosen);
  }

  private static String resource(String name) {
    try (InputStream file = DemoCommand.class.getResourceAsStream(name)) {
      return new String(Objects.requireNonNull(file, name).readAllBytes(), StandardCharsets.UTF_8);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private void check(boolean ok, String message) {
    if (!ok) {
      throw new ParameterException(Objects.requireNonNull(spec).commandLine(), message);
    }
  }
}
