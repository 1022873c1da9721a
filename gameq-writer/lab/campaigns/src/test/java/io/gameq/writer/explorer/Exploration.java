package io.gameq.writer.explorer;

import io.gameq.servers.TestServers;
import java.math.BigInteger;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.Consumer;
import java.util.stream.Collectors;

/** One search that was made: what was planted, where, what was found. */
record Exploration(Plant plant, Scenario scenario, Search.Result result, double seconds) {
  /** Searches that run side by side, each in a world of its own. */
  private static final int SEARCHES_AT_A_TIME = 2;

  /** A path is as deep as the stack. */
  private static final long STACK_BYTES = 64 << 20;

  /** A search to make. */
  record Task(Plant plant, Scenario scenario) {
    Exploration run() throws Exception {
      long began = System.nanoTime();
      try (Servers world = new Servers(plant)) {
        Search.Result result = Search.run(world, scenario);
        plant.requireMatched();
        return new Exploration(
            plant, scenario, result, (System.nanoTime() - began) / 1_000_000_000.0);
      }
    }
  }

  /** The protocol as it is. */
  static List<Task> clean() {
    return clean(
        switch (System.getProperty("gameq.explorer", "")) {
          case "full" -> Scenarios.full();
          case "failover" -> Scenarios.failovers();
          default -> Scenarios.all();
        });
  }

  /** The same in these casts. */
  static List<Task> clean(List<Scenario> casts) {
    return chosen(casts.stream().map(scenario -> new Task(Plant.none(), scenario)).toList());
  }

  /** Those of the casts that are asked for. */
  static List<Task> chosen(List<Task> tasks) {
    String only = System.getProperty("gameq.explorer.cast", "");
    return tasks.stream().filter(task -> task.scenario().name().contains(only)).toList();
  }

  static List<Exploration> all(List<Task> tasks)
      throws InterruptedException, ExecutionException, SQLException {
    return all(tasks, each -> {});
  }

  /** The same, telling each as it ends: a search takes its time. */
  static List<Exploration> all(List<Task> tasks, Consumer<Exploration> ended)
      throws InterruptedException, ExecutionException, SQLException {
    try (RelaxedDurability relaxed = RelaxedDurability.of(TestServers.mysql())) {
      return sideBySide(tasks, ended);
    }
  }

  private static List<Exploration> sideBySide(List<Task> tasks, Consumer<Exploration> ended)
      throws InterruptedException, ExecutionException {
    ExecutorService threads =
        Executors.newFixedThreadPool(
            SEARCHES_AT_A_TIME, task -> new Thread(null, task, "explorer", STACK_BYTES));
    try {
      List<Future<Exploration>> running = new ArrayList<>();
      tasks.forEach(task -> running.add(threads.submit(task::run)));
      List<Exploration> done = new ArrayList<>();
      for (Future<Exploration> one : running) {
        done.add(one.get());
        ended.accept(one.get());
      }
      return done;
    } finally {
      threads.shutdownNow();
    }
  }

  String line() {
    return line(
        "  " + scenario + ": ",
        result.schedules(),
        result.states(),
        result.redisSteps(),
        result.mysqlSteps(),
        result.violation() == null ? 0 : 1,
        seconds);
  }

  static String line(
      String what,
      BigInteger schedules,
      long states,
      long redis,
      long mysql,
      long violations,
      double seconds) {
    return ("%s%,d schedules, %,d states checked, steps run on Redis %,d and MySQL %,d, %d"
            + " violations, %.1f s")
        .formatted(what, schedules, states, redis, mysql, violations, seconds);
  }

  /** A row of the table of planted variants. */
  String row() {
    return "| %s | %s | %,d (%.1f s) | %s |"
        .formatted(plant.rule(), scenario, result.states(), seconds, result.violation());
  }

  static String violations(List<Exploration> done) {
    return done.stream()
        .filter(e -> e.result().violation() != null)
        .map(Exploration::violation)
        .collect(Collectors.joining("\n"));
  }

  String violation() {
    return "%s: %s%n    %s"
        .formatted(scenario, result.violation(), String.join("\n    ", result.path()));
  }
}
