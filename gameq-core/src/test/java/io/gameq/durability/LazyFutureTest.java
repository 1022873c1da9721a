package io.gameq.durability;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.gameq.CommitFailedException;
import io.gameq.durability.TrackedCommit.LazyFuture;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class LazyFutureTest {
  private final LazyFuture future = new LazyFuture();

  @Test
  void whoAskedBeforeAndAfterItArrivedIsTold() throws Exception {
    CompletableFuture<Void> before = future.future();
    assertFalse(before.isDone());
    future.arrived();
    future.failed(new CommitFailedException("too late"));
    before.get(0, TimeUnit.NANOSECONDS);
    future.future().get(0, TimeUnit.NANOSECONDS);
  }

  @Test
  void whatArrivedUnaskedHasNotFailed() throws Exception {
    future.arrived();
    future.failed(new CommitFailedException("too late"));
    future.future().get(0, TimeUnit.NANOSECONDS);
  }

  @Test
  void aFailureIsToldToWhoAsksAndWhoWaits() {
    CommitFailedException reason = new CommitFailedException("refused");
    future.failed(reason);
    future.arrived();
    assertTrue(future.future().isCompletedExceptionally());
    assertEquals(
        reason,
        assertThrows(ExecutionException.class, () -> future.future().get(0, TimeUnit.NANOSECONDS))
            .getCause());
  }
}
