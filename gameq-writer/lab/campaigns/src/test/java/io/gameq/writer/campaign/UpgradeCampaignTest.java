package io.gameq.writer.campaign;

import static io.gameq.servers.Waits.LONG;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.gameq.servers.ChildJvm.Build;
import io.gameq.terminal.ExitCodes;
import io.gameq.writer.WriterMain;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * A whole upgrade under load, from the {@linkplain ReleaseBefore release before} to this build,
 * back and forth again; each step kills a process and starts it as the other build, on what it
 * left:
 *
 * <pre>
 * all old   writer by writer, then node by node: all new, which speaks a newer protocol
 * all new   writer by writer, then node by node: all old
 * all old   all but a writer: new, and 'protocol raise' is refused
 * all new   raised: all write the newer protocol, and who is old is refused by name
 * </pre>
 *
 * <p>All that the fault campaign checks is checked. {@code -Dgameq.seed=N} for another seed, {@code
 * -Dgameq.campaign.before=COMMIT} for another release before.
 */
@Tag("campaign")
class UpgradeCampaignTest {
  private static final String SPEAKS = "gameq.test.newestProtocol";
  private static final Build NEW = new Build(Build.THIS.classPath(), List.of("-D" + SPEAKS + "=2"));
  private static final int STEP_SECONDS = CampaignLength.isShort() ? 1 : 10;

  private final Path directory = Path.of("target", "campaign-upgrade");

  @BeforeAll
  static void speakMore() {
    System.setProperty(SPEAKS, "2"); // the reader, and commands
  }

  @AfterAll
  static void speakAsBefore() {
    System.clearProperty(SPEAKS);
  }

  @Test
  void nothingIsLostStaleOrResurrectedOnTheWayToThisReleaseAndBack() throws Exception {
    Build old = ReleaseBefore.build();
    long seed = Long.getLong("gameq.seed", new Random().nextInt(100_000));
    CampaignFiles.delete(directory);
    try (CampaignServers servers = new CampaignServers(Files.createDirectories(directory))) {
      long began = System.nanoTime();
      CaseResult result =
          new Campaign(servers, old, directory)
              .run(new Fault("upgrade", 1, (world, random) -> upgrade(world, old)), seed);
      System.out.printf(
          "upgrade from %s, seed %d: %d acknowledged changes, %d reads, drained in %.1f s, %d"
              + " violations, %.0f s in all%n  %s%n  messages: %s%n",
          ReleaseBefore.commit(),
          seed,
          result.acknowledged(),
          result.reads(),
          result.drainSeconds(),
          result.violations().size(),
          (System.nanoTime() - began) / 1e9,
          result.sent(),
          result.messages());
      assertEquals(List.of(), result.violations());
      assertEquals(List.of(), result.messages().violations());
    }
    CampaignFiles.delete(directory);
  }

  private static void upgrade(World world, Build old) throws Exception {
    become(NEW, world.writers.get(0));
    become(NEW, world.writers.get(1));
    become(NEW, world.nodes.get(0));
    become(NEW, world.nodes.get(1));
    become(old, world.writers.get(0));
    become(old, world.writers.get(1));
    become(old, world.nodes.get(0));
    become(old, world.nodes.get(1));
    become(NEW, world.writers.get(0));
    become(NEW, world.nodes.get(0));
    become(NEW, world.nodes.get(1));
    assertEquals("", protocol(world), "nobody raised it");
    String refused = raise(world, ExitCodes.FOUND_SOMETHING);
    assertTrue(refused.contains("writer w2 ("), refused);
    become(NEW, world.writers.get(1));
    await() // who was killed counts as alive for a while
        .atMost(LONG)
        .until(() -> run(world, "protocol", "raise", "--dry-run").exitCode() == ExitCodes.OK);
    raise(world, ExitCodes.OK);
    assertTrue(protocol(world).startsWith("2 "), protocol(world));
    await().atMost(LONG).until(() -> allWriteTheNewer(world));
    TimeUnit.SECONDS.sleep(STEP_SECONDS);
    assertRefused(world, old);
  }

  private static void become(Build build, NodeProcess node) throws InterruptedException {
    node.restartAs(build);
    TimeUnit.SECONDS.sleep(STEP_SECONDS);
  }

  private static void become(Build build, WriterProcess writer) throws InterruptedException {
    writer.restartAs(build);
    TimeUnit.SECONDS.sleep(STEP_SECONDS);
  }

  private record CommandRun(int exitCode, String out) {}

  private static CommandRun run(World world, String... command) {
    StringWriter out = new StringWriter();
    List<String> args = new ArrayList<>(List.of(command));
    args.addAll(List.of("--config", world.writers.get(0).config().toString()));
    PrintWriter to = new PrintWriter(out, true);
    return new CommandRun(WriterMain.run(to, to, args.toArray(String[]::new)), out.toString());
  }

  private static boolean allWriteTheNewer(World world) {
    return Stream.of("nodes", "writers")
        .flatMap(who -> run(world, who, "--json").out().lines())
        .filter(process -> process.contains("\"state\":\"running\""))
        .allMatch(process -> process.contains("\"protocol\":2"));
  }

  private static String raise(World world, int exitCode) {
    CommandRun run = run(world, "protocol", "raise", "--yes");
    assertEquals(exitCode, run.exitCode(), run::out);
    return run.out();
  }

  private static String protocol(World world) throws SQLException {
    return world
        .mysql()
        .queryText("SELECT COALESCE(MAX(value), '') FROM gameq_setting WHERE name = 'protocol'");
  }

  /** Who is started as the old build ends at once, says why, and has written nothing. */
  private static void assertRefused(World world, Build old) throws Exception {
    String redis = world.servers.redisUri();
    String mysql = world.servers.mysql().jdbcUrl(world.database);
    NodeJvm node =
        new NodeJvm(
            old,
            world.directory,
            new NodeOptions(
                "n3",
                1,
                0,
                1,
                world.namespace,
                redis,
                mysql,
                world.directory.resolve("n3.history"),
                world.directory.resolve("wal"),
                0,
                World.MERGE_WINDOW_MILLIS),
            false);
    assertThrows(IllegalStateException.class, node::awaitReady);
    WriterJvm writer = new WriterJvm(old, world.directory, "w3", world.namespace, redis, mysql);
    assertTrue(writer.process().awaitEnd((int) LONG.toSeconds()));
    for (String log : List.of("n3.log", "w3.log")) {
      String said = Files.readString(world.directory.resolve(log));
      assertTrue(said.contains("which speaks protocol 1, and the database is at 2"), said);
    }
    assertEquals("0", world.mysql().queryText("SELECT COUNT(*) FROM gameq_node WHERE name = 'n3'"));
    assertEquals(0, world.servers.redis().exists(world.namespace + ":name:n3"));
  }
}
