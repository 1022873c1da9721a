package io.gameq.durability;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.gameq.CommitFailedException;
import io.gameq.durability.TrackedCommit.LazyFuture;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.Test;

class LazyFutureTest {
  private static final long LONG_NANOS = TimeUnit.HOURS.toNanos(1);

  private final LazyFuture future = new LazyFuture();

  @Test
  void whoAskedBeforeAndAfterItArrivedIsTold() throws Exception {
    CompletableFuture<Void> before = future.future();
    assertFalse(before.isDone());
    future.arrived();
    future.failed(new CommitFailedException("too late"));
    before.get(0, TimeUnit.NANOSECONDS);
    future.future().get(0, TimeUnit.NANOSECONDS);
    future.await(0);
  }

  @Test
  void whatArrivedUnaskedHasNotFailed() throws Exception {
    future.arrived();
    future.failed(new CommitFailedException("too late"));
    future.future().get(0, TimeUnit.NANOSECONDS);
    future.await(0);
  }

  @Test
  void aFailureIsToldToWhoAsksAndWhoWaits() {
    CommitFailedException reason = new CommitFailedException("refused");
    future.failed(reason);
    future.arrived();
    assertTrue(future.future().isCompletedExceptionally());
    assertEquals(reason, assertThrows(ExecutionException.class, () -> future.await(0)).getCause());
  }

  @Test
  void allThreadsThatWaitAreWoken() throws Exception {
    List<Thread> threads = new ArrayList<>();
    for (int i = 0; i < 3; i++) {
      Thread thread = new Thread(() -> awaitQuietly(future));
      thread.start();
      threads.add(thread);
    }
    for (Thread thread : threads) {
      await().until(() -> thread.getState() == Thread.State.TIMED_WAITING);
    }
    future.arrived();
    for (Thread thread : threads) {
      thread.join(TimeUnit.SECONDS.toMillis(10));
      assertFalse(thread.isAlive());
    }
  }

  private static void awaitQuietly(LazyFuture future) {
    try {
      future.await(LONG_NANOS);
    } catch (InterruptedException | ExecutionException | TimeoutException e) {
      throw new AssertionError(e);
    }
  }

  @Test
  void waitingEndsInTimeAndAtAnInterrupt() {
    assertThrows(TimeoutException.class, () -> future.await(1));
    Thread.currentThread().interrupt();
    assertThrows(InterruptedException.class, () -> future.await(LONG_NANOS));
    assertFalse(Thread.interrupted());
  }
}
