package io.gameq.redis;

import static io.gameq.servers.Waits.LONG;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.gameq.RedisUnavailableException;
import io.gameq.redis.RedisConnector.RedisConfig;
import io.gameq.servers.TestServers;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class ControlConnectionTest {
  private static final int CALLERS = 20;
  private static final int TIMEOUT_MILLIS = 1_000;

  private final ExecutorService threads = Executors.newCachedThreadPool();

  @AfterEach
  void stop() {
    threads.shutdownNow();
  }

  private static RedisConnector connector(String uri, int timeoutMillis) {
    return new RedisConnector(new RedisConfig(uri, null, timeoutMillis));
  }

  @Test
  void manyCallersWaitForOneAttemptToReachASilentServer() throws Exception {
    try (ServerSocket silent = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
        RedisConnector connector =
            connector("redis://127.0.0.1:" + silent.getLocalPort(), TIMEOUT_MILLIS);
        ControlConnection redis = new ControlConnection(connector)) {
      List<Future<?>> callers = new ArrayList<>();
      long began = System.nanoTime();
      for (int i = 0; i < CALLERS; i++) {
        callers.add(threads.submit(() -> redis.get()));
      }
      for (Future<?> caller : callers) {
        ExecutionException failed =
            assertThrows(ExecutionException.class, () -> caller.get(1, TimeUnit.MINUTES));
        assertInstanceOf(RedisUnavailableException.class, failed.getCause());
      }
      long millis = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - began);
      assertTrue(millis < CALLERS * TIMEOUT_MILLIS / 2, millis + " ms");
    }
  }

  @Test
  void whoIsInterruptedDisturbsNobodyElse() throws Exception {
    try (RedisConnector connector =
            connector(TestServers.adminRedisUri(), (int) LONG.toMillis()); // for BLPOP
        ControlConnection redis = new ControlConnection(connector)) {
      PrimaryConnector.Opened connected = redis.connected();
      CountDownLatch asked = new CountDownLatch(1);
      AtomicReference<Throwable> failed = new AtomicReference<>();
      Thread interrupted =
          new Thread(
              () -> {
                try {
                  redis.call(
                      on -> {
                        asked.countDown();
                        return RedisReply.await(() -> halfASecond(on));
                      });
                } catch (RuntimeException e) {
                  failed.set(e);
                }
              });
      interrupted.start();
      assertTrue(asked.await(LONG.toSeconds(), TimeUnit.SECONDS));
      Future<String> other =
          threads.submit(() -> redis.call(on -> RedisReply.await(() -> on.sync().ping())));
      interrupted.interrupt();
      assertEquals("PONG", other.get(LONG.toSeconds(), TimeUnit.SECONDS));
      interrupted.join();
      assertInstanceOf(RedisUnavailableException.class, failed.get());
      assertEquals(connected.redis(), redis.connected().redis());
    }
  }

  /** Holds up all that comes after it on this connection. */
  private static @Nullable Object halfASecond(RedisConnection redis) {
    return redis.sync().blpop(0.5, SlotKeys.bytes("nothing-" + UUID.randomUUID()));
  }
}
