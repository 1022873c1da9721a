package io.gameq.durability;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/** Whether Redis has a commit; a future only for those who ask for one. Thread-safe. */
public final class QueuedFuture {
  static final QueuedFuture DONE = new QueuedFuture();

  static {
    DONE.arrived();
  }

  private final AtomicReference<@Nullable Thread> waiting = new AtomicReference<>();
  private volatile boolean arrived;
  private @Nullable RuntimeException failure;
  private @Nullable CompletableFuture<Void> future;

  /** Redis has it, and the session knows. */
  public void arrived() {
    CompletableFuture<Void> asked;
    synchronized (this) {
      arrived = true;
      asked = future;
    }
    wake();
    if (asked != null) {
      asked.complete(null);
    }
  }

  public void failed(RuntimeException reason) {
    CompletableFuture<Void> asked;
    synchronized (this) {
      failure = reason;
      asked = future;
    }
    if (asked != null) {
      asked.completeExceptionally(reason);
    }
    wake();
  }

  private void wake() {
    Thread waiter = waiting.get();
    if (waiter != null) {
      LockSupport.unpark(waiter);
    }
  }

  /** Not for the game: it ends on the sender's thread. */
  synchronized CompletableFuture<Void> future() {
    if (future == null) {
      future =
          failure != null
              ? CompletableFuture.failedFuture(failure)
              : arrived ? CompletableFuture.completedFuture(null) : new CompletableFuture<>();
    }
    return future;
  }

  private synchronized @Nullable RuntimeException failure() {
    return failure;
  }

  /** Waits until Redis has it; throws as {@link CompletableFuture#get(long, TimeUnit)}. */
  void await(long nanos) throws InterruptedException, ExecutionException, TimeoutException {
    Thread current = Thread.currentThread();
    if (!arrived && waiting.compareAndSet(null, current)) {
      try {
        park(System.nanoTime() + nanos);
      } finally {
        waiting.set(null);
      }
    } else if (!arrived) { // a second thread waits
      future().get(nanos, TimeUnit.NANOSECONDS);
    }
  }

  private void park(long deadline)
      throws InterruptedException, ExecutionException, TimeoutException {
    while (!arrived) {
      RuntimeException reason = failure();
      if (reason != null) {
        throw new ExecutionException(reason);
      }
      long left = deadline - System.nanoTime();
      if (left <= 0) {
        throw new TimeoutException();
      }
      if (Thread.interrupted()) {
        throw new InterruptedException();
      }
      LockSupport.parkNanos(this, left);
    }
  }
}
