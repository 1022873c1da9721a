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
 * <p>Futures complete one after another on the executor that {@link
 * GameQueueConfigBuilder#callbacks} names: a continuation that takes long holds up those after it,
 * and nothing of gameq itself. What is hung on a future that has ended already runs at once, on the
 * thread that hangs it on. The methods that wait do not wait for continuations.
 */
public final class CommitReceipt {
  static final CommitReceipt EMPTY =
      new CommitReceipt(
          Journaled.DONE,
          Queued.DONE,
          () -> CompletableFuture.completedFuture(null),
          Callbacks.on(Runnable::run)); // all has ended: nothing is left to tell

  private final Journaled journaled;
  private final Queued queued;
  private final Supplier<CompletableFuture<Void>> durable;
  private final Callbacks callbacks;

  CommitReceipt(
      Journaled journaled,
      Queued queued,
      Supplier<CompletableFuture<Void>> durable,
      Callbacks callbacks) {
    this.journaled = journaled;
    this.queued = queued;
    this.durable = durable;
    this.callbacks = callbacks;
  }

  /**
   * Completes when the WAL of this node has the commit: it survives the death of this process, and
   * is sent when Redis is back should it be away ({@link WhenRedisIsAway#JOURNAL}). No other node
   * sees it yet, and it still fails when another node has taken the owner over meanwhile. Fails
   * when the commit never got into the WAL.
   */
  public CompletableFuture<Void> journaled() {
    return callbacks.tell(journaled.future());
  }

  /**
   * Completes when Redis has the commit. Fails with {@link OwnershipLostException}, {@link
   * RedisFullException}, {@link CommitFailedException} or {@link io.gameq.wal.WalException} when it
   * is certain that Redis does not have it, and with {@link CommitUnknownException} when nobody can
   * know.
   */
  public CompletableFuture<Void> queued() {
    return callbacks.tell(queued.future());
  }

  /**
   * Completes when MySQL has the commit (or a newer version of its rows); fails as {@link #queued}
   * does, with {@link DeadLetterException} when MySQL refused rows of it, and with {@link
   * ConflictException} when a Redis failover lost rows of it for good. When the node is closed
   * before that is known, it fails with a {@link GameQueueException}: its outcome is open then.
   */
  public CompletableFuture<Void> durable() {
    return callbacks.tell(whenDurable());
  }

  /** Not for the game: it ends on a thread of gameq. */
  private CompletableFuture<Void> whenDurable() {
    return queued.future().thenCompose(ignored -> durable.get());
  }

  /**
   * Waits until Redis has the commit.
   *
   * @throws GameQueueException what {@link #queued} failed with, or that the time was up: then the
   *     outcome is still open
   */
  public void awaitQueued(Duration timeout) {
    await(() -> queued.await(timeout.toNanos()), timeout, "Redis has");
  }

  /** Waits until MySQL has the commit; throws as {@link #awaitQueued}. */
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
