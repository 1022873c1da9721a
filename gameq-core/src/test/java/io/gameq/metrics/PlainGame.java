package io.gameq.metrics;

import io.gameq.GameQueue;
import io.gameq.OwnerSession;
import io.gameq.config.GameQueueConfig;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;

/** A game that knows nothing of meters; loaded where there is no Micrometer. Stateless. */
public final class PlainGame {
  private PlainGame() {}

  /** Commits a row; returns how many rows the owner has then. */
  public static int play(
      String redis, String mysql, String user, String password, String namespace, String wal) {
    try (GameQueue queue =
        GameQueue.open(
            GameQueueConfig.builder()
                .redis(redis)
                .mysql(mysql, user, password)
                .namespace(namespace)
                .node("plain")
                .slots(4)
                .walDirectory(Path.of(wal))
                .build())) {
      OwnerSession session = queue.open("player:7");
      session.put("pet", Map.of("id", 7, "player_id", 7));
      session.commit().awaitQueued(Duration.ofSeconds(60));
      return queue.read("player:7", "pet").size();
    }
  }
}
