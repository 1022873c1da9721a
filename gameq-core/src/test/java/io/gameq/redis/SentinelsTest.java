package io.gameq.redis;

import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.gameq.GameQueueException;
import io.gameq.redis.RedisConnector.RedisConfig;
import io.gameq.redis.RedisConnector.Sentinels;
import io.gameq.servers.RedisProcess;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class SentinelsTest {
  private final int port = RedisProcess.freePort();

  @TempDir Path directory;

  private RedisProcess sentinel() {
    return RedisProcess.sentinel(
        RedisProcess.executable(directory),
        directory.resolve("sentinel"),
        List.of("port " + port, "sentinel monitor primary 127.0.0.1 4711 1"));
  }

  private RedisConnector connector(int timeoutMillis) {
    return new RedisConnector(
        new RedisConfig("redis-sentinel://127.0.0.1:" + port + "#primary", null, timeoutMillis));
  }

  private static void signal(RedisProcess process, String signal)
      throws IOException, InterruptedException {
    new ProcessBuilder("kill", signal, Long.toString(process.pid())).start().waitFor();
  }

  /** A process that has just started, on a busy host: it must not end for that. */
  @Test
  void whoConnectsWaitsForTheFirstAnswerAsLongAsForAnyReply() throws Exception {
    try (RedisProcess sentinel = sentinel();
        RedisConnector connector = connector(30_000)) {
      signal(sentinel, "-STOP");
      CompletableFuture<String> reached =
          CompletableFuture.supplyAsync(
              () -> assertThrows(GameQueueException.class, connector::reach).getMessage());
      TimeUnit.MILLISECONDS.sleep(Sentinels.PATIENCE_MILLIS + 500);
      signal(sentinel, "-CONT");
      assertTrue(reached.get().contains("cannot connect to Redis"), reached::join);
    }
  }
}
