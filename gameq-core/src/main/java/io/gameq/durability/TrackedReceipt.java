package io.gameq.durability;

import io.gameq.CommitPendingException;
import io.gameq.CommitReceipt;
import io.gameq.GameQueueException;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;

/** The futures of one commit. Thread-safe. */
public final class TrackedReceipt implements CommitReceipt {
  public static final CommitReceipt EMPTY =
      new TrackedReceipt(
          LazyFuture.done(),
          LazyFuture.done(),
          () -> CompletableFuture.completedFuture(null),
          Callbacks.on(Runnable::run)); // all has ended: nothing is left to tell

  private final LazyFuture journaled;
  private final LazyFuture queued;
  private final Supplier<CompletableFuture<Void>> durable;
  private final Callbacks callbacks;

  TrackedReceipt(
      LazyFuture journaled,
      LazyFuture queued,
      Supplier<CompletableFuture<Void>> durable,
      Callbacks callbacks) {
    this.journaled = journaled;
    this.queued = queued;
    this.durable = durable;
    this.callbacks = callbacks;
  }

  @Override
  public CompletableFuture<Void> journaled() {
    return callbacks.tell(journaled.future());
  }

  @Override
  public CompletableFuture<Void> queued() {
    return callbacks.tell(queued.future());
  }

  @Override
  public CompletableFuture<Void> durable() {
    return callbacks.tell(whenDurable());
  }

  /** Not for the game: it ends on a thread of gameq. */
  private CompletableFuture<Void> whenDurable() {
    return queued.future().thenCompose(ignored -> durable.get());
  }

  @Override
  public void awaitQueued(Duration timeout) {
    await(() -> queued.await(timeout.toNanos()), timeout, "Redis has");
  }

  @Override
  public void awaitDurable(Duration timeout) {
    CompletableFuture<Void> known = whenDurable();
    await(() -> known.get(timeout.toNanos(), TimeUnit.NANOSECONDS), timeout, "MySQL has");
  }

  private interface Waiting {
    void await() throws InterruptedException, ExecutionException, TimeoutException;
  }

  private static void await(Waiting waiting, Duration timeout, String what) {
    try {
      waiting.await();
    } catch (ExecutionException e) {
      Throwable cause = Callbacks.cause(Objects.requireNonNull(e.getCause()));
      if (cause instanceof GameQueueException known) {
        throw known;
      }
      throw new GameQueueException("the commit failed: " + cause, e);
    } catch (TimeoutException e) {
      throw new CommitPendingException(
          "not known within "
              + timeout.toMillis()
              + " ms that "
              + what
              + " the commit; its outcome is still open");
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new CommitPendingException(
          "interrupted while waiting for a commit; its outcome is still open");
    }
  }
}
