package io.gameq.writer;

import static io.gameq.servers.Waits.LONG;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.gameq.GameQueue;
import io.gameq.OwnerSession;
import io.gameq.change.Commit;
import io.gameq.metrics.GameQueueMetrics;
import io.gameq.servers.GameDatabase;
import io.gameq.terminal.ExitCodes;
import io.gameq.writer.service.RunCommand.Health;
import io.gameq.writer.service.WriterService;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** What an operator sees of a game: by the command line and as meters. */
@Execution(ExecutionMode.CONCURRENT)
class OperatorsViewTest {
  /** Of MySQL: their names begin like those of meters. */
  private static final Set<String> TABLES =
      Set.of(
          "gameq_owner",
          "gameq_layout",
          "gameq_dropped_column",
          "gameq_redis_term",
          "gameq_dead_letter",
          "gameq_discard",
          "gameq_setting",
          "gameq_table",
          "gameq_tombstone",
          "gameq_handled",
          "gameq_pause",
          "gameq_audit",
          "gameq_id");

  /** Where a writer has a door: MessageDoorTest sees it. */
  private static final String OF_DOOR = "gameq_door_requests_seconds";

  record Item(long playerId, int slot, int count) {}

  @TempDir Path directory;

  private Game game;
  private ConfigFile config;

  @BeforeEach
  void start() throws Exception {
    GameDatabase database =
        GameDatabase.create("view")
            .table(
                "item",
                "player",
                "player_id",
                "player_id BIGINT NOT NULL, slot INT NOT NULL, count INT NOT NULL, PRIMARY KEY"
                    + " (player_id, slot), CONSTRAINT few CHECK (count < 5000)");
    game = new Game(database, directory);
    config = ConfigFile.write(directory, database.server(), game.namespace, Game.SLOTS);
  }

  @AfterEach
  void stop() {
    game.close();
  }

  private CommandLineRun run(String command) {
    CommandLineRun run = config.run(command);
    System.out.println("$ gameq-writer " + command + "\n" + run.out() + run.err());
    return run;
  }

  private static void commit(GameQueue queue, int player, int rows, int count) throws Exception {
    OwnerSession session = queue.open("player:" + player);
    for (int i = 0; i < rows; i++) {
      session.put(new Item(player, i, count));
    }
    session.commit().awaitQueued(LONG);
  }

  @Test
  void statusShowsWhatWaitsAndWhatToDo() throws Exception {
    CommandLineRun idle = run("status");
    assertEquals(ExitCodes.OK, idle.exitCode(), idle::toString);
    assertTrue(idle.out().contains("all is well"), idle::out);
    try (GameQueue queue = game.node("n1")) {
      commit(queue, 1, 3, 1);
      commit(queue, 2, 2, 6_000); // more than MySQL takes
      CommandLineRun waits = run("status");
      assertEquals(ExitCodes.OK, waits.exitCode(), waits::toString);
      assertTrue(waits.out().contains("2 owners, 5 rows"), waits::out);
      try (WriterService writer = game.writer("w1")) {
        await().atMost(LONG).until(() -> writer.stats().deadLetters() == 2);
      }
    }
    JsonNode json = new ObjectMapper().readTree(run("status --json").out());
    assertEquals(0, json.path("rows").asInt(), json::toString);
    assertEquals(0, json.path("due").asInt(), json::toString);
    assertEquals(2, json.path("deadLetters").asInt(), json::toString);
    CommandLineRun toDo = run("status");
    assertEquals(ExitCodes.FOUND_SOMETHING, toDo.exitCode(), toDo::toString);
    assertTrue(toDo.out().contains("MySQL refused 2 rows: see 'gameq-writer dead list'"));
  }

  @Test
  void metersShowWhatTheWriterDidAndWhatWaits() throws Exception {
    PrometheusMeterRegistry meters = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
    try (GameQueue queue = game.node("n1");
        WriterService writer = game.writer("w1", meters)) {
      commit(queue, 1, 3, 1);
      await().atMost(LONG).until(() -> writer.stats().rows() == 3);
      String scraped = meters.scrape();
      assertTrue(scraped.contains("gameq_writer_rows_total 3.0"), scraped);
      assertTrue(scraped.contains("gameq_writer_flush_rows_count 1"), scraped);
      assertTrue(scraped.contains("gameq_writer_flush_outcomes_total{outcome=\"committed\"} 1"));
      assertTrue(scraped.contains("gameq_writer_step_seconds_count{step=\"flushing\"} 1"), scraped);
      assertTrue(scraped.contains("gameq_writer_outage 0.0"), scraped);
      await()
          .atMost(LONG)
          .until(
              () -> !meters.scrape().contains("gameq_slot_owners{slot=\"3\",state=\"due\"} NaN"));
      assertTrue(meters.scrape().contains("gameq_redis_memory_used_bytes "), scraped);
      assertTrue(writer.isAlive());
      await().atMost(LONG).until(() -> writer.problems().isEmpty());
    }
  }

  /** Though nothing is due, so that no flush fails. */
  @Test
  void aWriterWhoseMySqlIsAwayIsNotReady() {
    AtomicBoolean down = new AtomicBoolean();
    try (WriterService writer = game.writer("w1", 30_000, down::get)) {
      await().atMost(LONG).until(() -> writer.problems().isEmpty());
      down.set(true);
      await().atMost(LONG).until(() -> writer.problems().toString().contains("MySQL is away"));
      assertTrue(writer.isAlive());
      down.set(false);
      await().atMost(LONG).until(() -> writer.problems().isEmpty());
    }
  }

  /** Whoever renames a meter breaks what others have built on it. */
  @Test
  void pagesAlertsAndDashboardNameMetersThatThereAre() throws Exception {
    PrometheusMeterRegistry meters = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
    PrometheusMeterRegistry ofGame = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
    Set<String> there;
    Set<String> inGame;
    try (TopicPlay play = new TopicPlay(game)) {
      play.define("mail", 0);
    }
    try (GameQueue queue = game.node("n1");
        WriterService writer = game.writer("w1", meters)) {
      new Health().bindTo(meters);
      new GameQueueMetrics(queue).bindTo(ofGame);
      commit(queue, 1, 1, 1);
      commit(queue, 2, 1, 6_000); // more than MySQL takes
      for (int i = 3; i < 3 + Commit.TIMED_OF; i++) {
        commit(queue, i, 1, 1);
      }
      await().atMost(LONG).until(() -> writer.stats().deadLetters() == 1);
      await().atMost(LONG).until(() -> queue.drain(LONG).isEmpty());
      assertTrue(meters.scrape().contains("gameq_writer_sql_errors_total{kind=\"row\"}"));
      assertTrue(
          ofGame.scrape().matches("(?s).*gameq_node_durable_seconds_count\\{[^}]*} [12]\\n.*"));
      await().atMost(LONG).until(() -> meters.scrape().contains("gameq_topic_paused{"));
      there = names(meters, "TYPE");
      inGame = names(ofGame, "TYPE");
      assertEquals(there, names(meters, "HELP"), "pages leave to it what a meter means");
      assertEquals(inGame, names(ofGame, "HELP"));
    }
    assertTrue(there.size() > 20 && inGame.size() > 15, there::toString);
    Set<String> inReference = named("REFERENCE.md");
    inReference.removeAll(inGame);
    assertTrue(inReference.remove(OF_DOOR));
    assertEquals(there, inReference);
    Set<String> inGamesReadme = named("../gameq-core/README.md");
    inGamesReadme.removeAll(there);
    assertEquals(inGame, inGamesReadme);
    there.addAll(inGame);
    for (String file : List.of("monitoring/alerts.yaml", "monitoring/dashboard.json")) {
      Set<String> unknown = named(file);
      unknown.removeAll(there);
      assertEquals(Set.of(), unknown, file);
    }
  }

  private static Set<String> names(PrometheusMeterRegistry meters, String comment) {
    Set<String> names = new TreeSet<>();
    for (String line : meters.scrape().lines().toList()) {
      if (line.matches("# " + comment + " gameq_\\S+ \\S.*")) {
        names.add(line.split(" ", -1)[2]);
      }
    }
    names.removeIf(name -> name.endsWith("_max") && names.contains(name.replaceAll("_max$", "")));
    return names;
  }

  /** Without what Prometheus puts behind the name of a histogram. */
  private static Set<String> named(String file) throws IOException {
    Set<String> names = new TreeSet<>();
    Matcher found = Pattern.compile("\\bgameq_[a-z_]+").matcher(Files.readString(Path.of(file)));
    while (found.find()) {
      String name = found.group().replaceAll("_(bucket|count|sum)$", "");
      if (!TABLES.contains(name)) {
        names.add(name);
      }
    }
    return names;
  }
}
