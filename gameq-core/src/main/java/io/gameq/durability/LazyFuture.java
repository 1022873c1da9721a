package io.gameq.durability;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * Whether the WAL, or Redis, has a commit. There is a future only where somebody asked for it,
 * which for most commits nobody does: the end of such a one costs an atomic operation. Thread-safe.
 */
final class LazyFuture {
  /** Of all that nobody had asked for when they ended well. */
  private static final CompletableFuture<Void> ARRIVED = CompletableFuture.completedFuture(null);

  private static final VarHandle FUTURE;

  static {
    try {
      FUTURE =
          MethodHandles.lookup().findVarHandle(LazyFuture.class, "future", CompletableFuture.class);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  /** Null while nobody has asked and it has not ended. */
  private volatile @Nullable CompletableFuture<Void> future;

  private volatile @Nullable Thread waiting;

  static LazyFuture done() {
    LazyFuture done = new LazyFuture();
    done.arrived();
    return done;
  }

  /** It ended well, unless it has failed. */
  void arrived() {
    if (!FUTURE.compareAndSet(this, null, ARRIVED)) {
      boolean unused = future().complete(null);
    }
    wake();
  }

  /** It failed, unless it has arrived. */
  void failed(RuntimeException reason) {
    boolean unused = future().completeExceptionally(reason);
    wake();
  }

  private void wake() {
    Thread waiter = waiting;
    if (waiter != null) {
      LockSupport.unpark(waiter);
    }
  }

  /** Not for the game: it ends on the sender's thread. */
  CompletableFuture<Void> future() {
    CompletableFuture<Void> asked = future;
    if (asked == null) {
      CompletableFuture<Void> created = new CompletableFuture<>();
      asked = FUTURE.compareAndSet(this, null, created) ? created : future();
    }
    return asked;
  }

  private boolean isDone() {
    CompletableFuture<Void> known = future;
    return known != null && known.isDone();
  }

  /** Waits until it ends; throws as {@link CompletableFuture#get(long, TimeUnit)}. */
  void await(long nanos) throws InterruptedException, ExecutionException, TimeoutException {
    long deadline = System.nanoTime() + nanos;
    if (!isDone() && waitsFirst()) {
      try {
        park(deadline);
      } finally {
        waiting = null;
      }
    }
    future().get(Math.max(0, deadline - System.nanoTime()), TimeUnit.NANOSECONDS);
  }

  /** Whether this thread is the one that is woken: one nearly always, others wait by a future. */
  private synchronized boolean waitsFirst() {
    boolean isFirst = waiting == null;
    if (isFirst) {
      waiting = Thread.currentThread();
    }
    return isFirst;
  }

  private void park(long deadline) throws InterruptedException, TimeoutException {
    while (!isDone()) {
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
