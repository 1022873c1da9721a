package io.gameq.example;

import io.gameq.GameQueue;
import io.gameq.config.GameQueueConfig;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.Objects;
import java.util.Set;

/** Two nodes of the game, one day. In a real game each node is a process of its own. */
public final class GameMain {
  private static final Duration LAST_CALL = Duration.ofSeconds(20);

  private GameMain() {}

  /** Plays a day on the servers that the environment names. */
  public static void main(String[] args) throws InterruptedException {
    Map<String, String> settings = System.getenv();
    Path wals = Path.of(args.length == 0 ? "wal" : args[0]);
    try (GameQueue first = GameQueue.open(config(settings, "node-1", wals));
        GameQueue second = GameQueue.open(config(settings, "node-2", wals))) {
      try (ExampleGame one = new ExampleGame(first);
          ExampleGame two = new ExampleGame(second)) {
        ExampleDay.play(one, two, System.out);
      } // everybody is logged out
      report("node-1", first.stop(LAST_CALL).notDurable());
      report("node-2", second.stop(LAST_CALL).notDurable());
    }
  }

  static GameQueueConfig config(Map<String, String> settings, String node, Path wals) {
    return GameQueueConfig.builder()
        .redis(need(settings, "GAME_REDIS"))
        .mysql(
            need(settings, "GAME_MYSQL"),
            need(settings, "GAME_DB_USER"),
            need(settings, "GAME_DB_PASSWORD"))
        .namespace("example")
        .node(node)
        .walDirectory(wals)
        .onFailure(failure -> System.err.println(node + " has to be restarted: " + failure))
        .build();
  }

  private static String need(Map<String, String> settings, String name) {
    return Objects.requireNonNull(settings.get(name), name);
  }

  private static void report(String node, Set<String> missing) {
    System.out.println(
        missing.isEmpty()
            ? node + ": all of it is in MySQL"
            : node + ": not known to be in MySQL, kept in the WAL: " + missing);
  }
}
