package io.gameq;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;

/**
 * What {@code commit} returns at once: the futures of one commit. Thread-safe.
 *
 * <p>Futures complete on a thread of gameq that serves all of them: keep continuations short, or
 * use the {@code Async} variants.
 */
public final class CommitReceipt {
  static final CommitReceipt EMPTY =
      new CommitReceipt(
          CompletableFuture.completedFuture(null), () -> CompletableFuture.completedFuture(null));

  private final CompletableFuture<Void> queued;
  private final Supplier<CompletableFuture<Void>> durable;

  CommitReceipt(CompletableFuture<Void> queued, Supplier<CompletableFuture<Void>> durable) {
    this.queued = queued;
    this.durable = durable;
  }

  /**
   * Completes when Redis has the commit. Fails with {@link OwnershipLostException}, {@link
   * RedisFullException}, {@link CommitFailedException} or {@link io.gameq.wal.WalException} when it
   * is certain that Redis does not have it, and with {@link CommitUnknownException} when nobody can
   * know.
   */
  public CompletableFuture<Void> queued() {
    return queued.copy();
  }

  /**
   * Completes when MySQL has the commit (or a newer version of its rows); fails as {@link #queued}
   * does, and with {@link DeadLetterException} when MySQL refused rows of it.
   */
  public CompletableFuture<Void> durable() {
    return queued.thenCompose(ignored -> durable.get());
  }

  /**
   * Waits until Redis has the commit.
   *
   * @throws GameQueueException what {@link #queued} failed with, or that the time was up: then the
   *     outcome is still open
   */
  public void awaitQueued(Duration timeout) {
    await(queued, timeout, "Redis has");
  }

  /** Waits until MySQL has the commit; throws as {@link #awaitQueued}. */
  public void awaitDurable(Duration timeout) {
    await(durable(), timeout, "MySQL has");
  }

  private static void await(CompletableFuture<Void> future, Duration timeout, String what) {
    try {
      future.get(timeout.toNanos(), TimeUnit.NANOSECONDS);
    } catch (ExecutionException e) {
      Throwable cause =
          e.getCause() instanceof CompletionException c && c.getCause() != null
              ? c.getCause()
              : e.getCause();
      if (cause instanceof GameQueueException known) {
        throw known;
      }
      throw new GameQueueException("the commit failed: " + cause, e);
    } catch (TimeoutException e) {
      throw new GameQueueException(
          "not known within "
              + timeout.toMillis()
              + " ms that "
              + what
              + " the commit; its outcome is still open");
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new GameQueueException(
          "interrupted while waiting for a commit; its outcome is still open");
    }
  }
}
