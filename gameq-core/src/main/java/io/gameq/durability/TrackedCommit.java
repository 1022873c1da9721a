package io.gameq.durability;

import io.gameq.CommitPendingException;
import io.gameq.CommitReceipt;
import io.gameq.CommitUnknownException;
import io.gameq.GameQueueException;
import io.gameq.Urgency;
import io.gameq.change.ChangedRow.RowMove;
import io.gameq.change.Commit;
import io.gameq.change.Commit.CommitPart;
import io.gameq.change.Commit.SlotMessages;
import io.gameq.durability.DurableFutures.Share;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Tells the sessions and the game what became of a commit. */
public final class TrackedCommit extends Commit {
  private final LazyFuture journaled = new LazyFuture();
  private final LazyFuture queued = new LazyFuture();
  private final Durability durability;
  private final @Nullable RowMove move;
  private final Urgency urgency;
  private Consumer<RuntimeException> whenFailed = reason -> {};

  /**
   * A commit.
   *
   * @param parts none for one of messages alone, which no session is told of
   * @param messages by slots
   * @param trackers one for each part
   */
  public TrackedCommit(
      List<CommitPart> parts,
      List<SlotMessages> messages,
      List<DurableTracker> trackers,
      @Nullable RowMove move,
      Urgency urgency) {
    super(parts, messages, move);
    this.move = move;
    this.urgency = urgency;
    durability = new Durability(trackers, new Share[trackers.size()]);
  }

  /** Has somebody told that it failed, before the game is; to be set before it is sent. */
  public void whenFailed(Consumer<RuntimeException> tell) {
    whenFailed = tell;
  }

  @Override
  public boolean isUrgent() {
    return urgency == Urgency.URGENT;
  }

  @Override
  public void journaled() {
    journaled.arrived();
  }

  @Override
  public void queued() {
    for (int i = 0; i < durability.trackers.size(); i++) {
      durability.shares[i] = durability.trackers.get(i).queued(this);
    }
    queued.arrived();
  }

  /** What was received in it was not. */
  public void moveFailed() {
    if (move != null) {
      move.fail();
    }
  }

  @Override
  public void failed(RuntimeException reason) {
    if (!(reason instanceof CommitUnknownException)) {
      moveFailed();
    }
    durability.trackers.forEach(tracker -> tracker.failed(this));
    whenFailed.accept(reason);
    journaled.failed(reason);
    queued.failed(reason);
  }

  /** Whether Redis has it; not for the game: it ends on the sender's thread. */
  public CompletableFuture<Void> outcome() {
    return queued.future();
  }

  /** What the game gets; does not hold the rows. */
  public CommitReceipt receipt(Callbacks callbacks) {
    return new Receipt(journaled, queued, durability::future, callbacks);
  }

  /**
   * What must be in MySQL for a commit to be durable: its rows, so that one without any is durable
   * once it is queued. Apart from the commit, so that a receipt does not hold its rows.
   */
  private record Durability(List<DurableTracker> trackers, Share[] shares) {
    CompletableFuture<Void> future() {
      CompletableFuture<?>[] all = new CompletableFuture<?>[shares.length];
      for (int i = 0; i < all.length; i++) {
        all[i] =
            shares[i].keys().isEmpty()
                ? CompletableFuture.completedFuture(null)
                : trackers.get(i).whenDurable(shares[i]);
      }
      return CompletableFuture.allOf(all);
    }
  }

  /** The futures of one commit. Thread-safe. */
  public static final class Receipt implements CommitReceipt {
    public static final CommitReceipt EMPTY =
        new Receipt(
            LazyFuture.done(),
            LazyFuture.done(),
            () -> CompletableFuture.completedFuture(null),
            Callbacks.on(Runnable::run)); // all has ended: nothing is left to tell

    private final LazyFuture journaled;
    private final LazyFuture queued;
    private final Supplier<CompletableFuture<Void>> durable;
    private final Callbacks callbacks;

    Receipt(
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

  /**
   * Whether the WAL, or Redis, has a commit. There is a future only where somebody asked for it,
   * which for most commits nobody does: the end of such a one costs an atomic operation.
   * Thread-safe.
   */
  static final class LazyFuture {
    /** Of all that nobody had asked for when they ended well. */
    private static final CompletableFuture<Void> ARRIVED = CompletableFuture.completedFuture(null);

    private static final VarHandle FUTURE;

    static {
      try {
        FUTURE =
            MethodHandles.lookup()
                .findVarHandle(LazyFuture.class, "future", CompletableFuture.class);
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
}
