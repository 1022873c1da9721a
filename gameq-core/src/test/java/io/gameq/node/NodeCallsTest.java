package io.gameq.node;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.gameq.CallTimeoutException;
import io.gameq.GameQueueException;
import io.gameq.MySqlUnavailableException;
import io.gameq.RedisUnavailableException;
import io.gameq.config.GameQueueConfig;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What a call that waits for a server ends with while one is away. */
class NodeCallsTest {
  @TempDir Path walDirectory;

  private @Nullable NodeCalls opened;
  private final CountDownLatch end = new CountDownLatch(1);
  private final AtomicBoolean redis = new AtomicBoolean(true);
  private final AtomicBoolean mysql = new AtomicBoolean(true);
  private final AtomicBoolean mysqlConnections = new AtomicBoolean(true);

  @AfterEach
  void close() {
    end.countDown();
    if (opened != null) {
      opened.close();
    }
  }

  private NodeCalls calls(Duration timeout) {
    opened =
        new NodeCalls(
            GameQueueConfig.builder()
                .redis("redis://localhost")
                .mysql("jdbc:mysql://localhost/game", "game", "")
                .namespace("calls")
                .node("n1")
                .walDirectory(walDirectory)
                .callTimeout(timeout)
                .build(),
            new NodeCalls.Servers(redis::get, mysql::get, mysqlConnections::get));
    return opened;
  }

  private String late() {
    try {
      end.await();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    return "late";
  }

  private GameQueueException failure(NodeCalls calls) {
    GameQueueException failure =
        assertThrows(
            GameQueueException.class,
            () -> calls.ofMySql("opening", isAwaited -> late(), unused -> {}));
    CompletionException started =
        assertThrows(
            CompletionException.class,
            () ->
                calls
                    .startOfMySql("opening", isAwaited -> late(), unused -> {}, Runnable::run)
                    .join());
    assertInstanceOf(failure.getClass(), started.getCause());
    return failure;
  }

  @Test
  void aCallThatIsLateNamesTheServerThatIsKnownToBeAway() {
    NodeCalls calls = calls(Duration.ofMillis(100));
    assertInstanceOf(CallTimeoutException.class, failure(calls), "nobody is known to be away");
    mysqlConnections.set(false);
    assertInstanceOf(MySqlUnavailableException.class, failure(calls));
    mysqlConnections.set(true);
    mysql.set(false);
    assertInstanceOf(MySqlUnavailableException.class, failure(calls));
    redis.set(false);
    assertInstanceOf(RedisUnavailableException.class, failure(calls));
  }

  @Test
  void whileMySqlLetsNobodyInNothingIsBegun() {
    NodeCalls calls = calls(Duration.ofSeconds(30));
    mysql.set(false);
    mysqlConnections.set(false);
    String message = failure(calls).getMessage();
    assertEquals("opening: MySQL does not answer; nothing was begun", message);
    mysqlConnections.set(true); // one came back: the call may be done
    end.countDown();
    assertEquals("late", calls.ofMySql("opening", isAwaited -> late(), unused -> {}));
  }
}
