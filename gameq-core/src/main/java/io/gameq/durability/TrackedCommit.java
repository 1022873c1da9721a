package io.gameq.durability;

import io.gameq.CommitPendingException;
import io.gameq.CommitReceipt;
import io.gameq.CommitUnknownException;
import io.gameq.GameQueueException;
import io.gameq.Urgency;
import io.gameq.change.ChangedRow.RowMove;
import io.gameq.change.Commit;
import io.gameq.change.Commit.CommitPart;
import io.gameq.durability.DurableFutures.Share;
import io.gameq.message.MessageChange;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Tells the sessions and the game what became of a commit. */
public final class TrackedCommit extends Commit {
  private final Progress progress;
  private final @Nullable RowMove move;
  private final Urgency urgency;
  private Consumer<RuntimeException> whenFailed = reason -> {};

  /**
   * A commit.
   *
   * @param parts none for one of messages alone, which no session is told of
   * @param messages what it changes of messages, in order
   * @param trackers one for each part
   */
  public TrackedCommit(
      List<CommitPart> parts,
      List<MessageChange> messages,
      List<DurableTracker> trackers,
      @Nullable RowMove move,
      Urgency urgency) {
    super(parts, messages, move);
    this.move = move;
    this.urgency = urgency;
    this.progress = new Progress(trackers);
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
    progress.journaled.arrived();
  }

  @Override
  public void queued() {
    for (int i = 0; i < progress.shares.length; i++) {
      progress.shares[i] = progress.trackers.get(i).queued(this);
    }
    progress.queued.arrived();
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
    progress.trackers.forEach(tracker -> tracker.failed(this));
    whenFailed.accept(reason);
    progress.journaled.failed(reason);
    progress.queued.failed(reason);
  }

  /** Whether Redis has it; not for the game: it ends on the sender's thread. */
  public CompletableFuture<Void> outcome() {
    return progress.queued.future();
  }

  /**
   * What the game gets; does not hold the rows.
   *
   * @param hurry is run when a thread waits for Redis
   * @param writers begins to say what writers do, when a thread waits for MySQL in vain
   */
  public CommitReceipt receipt(
      Callbacks callbacks, Runnable hurry, Supplier<CompletableFuture<String>> writers) {
    return new Receipt(progress, callbacks, hurry, writers);
  }

  /** How far a commit has come. Apart from it, so that a receipt does not hold its rows. */
  private static final class Progress {
    final LazyFuture journaled = new LazyFuture();
    final LazyFuture queued = new LazyFuture();
    final List<DurableTracker> trackers;
    final Share[] shares;

    Progress(List<DurableTracker> trackers) {
      this.trackers = trackers;
      this.shares = new Share[trackers.size()];
    }

    /**
     * Whether MySQL has its rows, so that one without any is durable once it is queued; not for the
     * game: it ends on a thread of gameq.
     */
    CompletableFuture<Void> durable() {
      return queued
          .future()
          .thenCompose(
              ignored -> {
                CompletableFuture<?>[] all = new CompletableFuture<?>[shares.length];
                for (int i = 0; i < all.length; i++) {
                  all[i] =
                      shares[i].keys().isEmpty()
                          ? CompletableFuture.completedFuture(null)
                          : trackers.get(i).whenDurable(shares[i]);
                }
                return CompletableFuture.allOf(all);
              });
    }
  }

  /** The futures of one commit. Thread-safe. */
  public static final class Receipt implements CommitReceipt {
    /** Of nothing. */
    public static final CommitReceipt EMPTY = empty();

    private static final CompletableFuture<String> NOTHING = CompletableFuture.completedFuture("");

    /** Of a wait for MySQL, the end: enough to ask Redis what writers do. */
    private static final long MOST_LOOK_NANOS = TimeUnit.MILLISECONDS.toNanos(500);

    private final Progress progress;
    private final Callbacks callbacks;
    private final Runnable hurry;
    private final Supplier<CompletableFuture<String>> writers;

    private Receipt(
        Progress progress,
        Callbacks callbacks,
        Runnable hurry,
        Supplier<CompletableFuture<String>> writers) {
      this.progress = progress;
      this.callbacks = callbacks;
      this.hurry = hurry;
      this.writers = writers;
    }

    /** Whether Redis has it; not for the game: it ends on the sender's thread. */
    public CompletableFuture<Void> outcome() {
      return progress.queued.future();
    }

    private static CommitReceipt empty() {
      Progress ended = new Progress(List.of());
      ended.journaled.arrived();
      ended.queued.arrived();
      return new Receipt( // nothing is left to tell
          ended, Callbacks.on(Runnable::run), () -> {}, () -> NOTHING);
    }

    @Override
    public CompletableFuture<Void> journaled() {
      return callbacks.tell(progress.journaled.future());
    }

    @Override
    public CompletableFuture<Void> queued() {
      return callbacks.tell(progress.queued.future());
    }

    @Override
    public CompletableFuture<Void> durable() {
      return callbacks.tell(progress.durable());
    }

    @Override
    public void awaitQueued(Duration timeout) {
      CompletableFuture<Void> queued = progress.queued.future();
      if (!queued.isDone()) {
        hurry.run();
      }
      await(queued, timeout, "Redis has", () -> NOTHING);
    }

    @Override
    public void awaitDurable(Duration timeout) {
      await(
          progress.durable(),
          timeout,
          "MySQL has",
          () -> progress.queued.future().isDone() ? writers.get() : NOTHING);
    }

    private static void await(
        CompletableFuture<Void> known,
        Duration timeout,
        String what,
        Supplier<CompletableFuture<String>> why) {
      long lookNanos = Math.min(MOST_LOOK_NANOS, timeout.toNanos() / 4);
      CompletableFuture<String> look = NOTHING;
      try {
        try {
          known.get(timeout.toNanos() - lookNanos, TimeUnit.NANOSECONDS);
        } catch (TimeoutException e) {
          look = why.get(); // while there is time
          known.get(lookNanos, TimeUnit.NANOSECONDS);
        }
      } catch (ExecutionException e) {
        Throwable cause = Callbacks.cause(Objects.requireNonNull(e.getCause()));
        if (cause instanceof GameQueueException reason) {
          throw reason;
        }
        throw new GameQueueException("the commit failed: " + cause, e);
      } catch (TimeoutException e) {
        throw new CommitPendingException(
            "not known within %s ms that %s the commit; its outcome is still open%s"
                .formatted(timeout.toMillis(), what, seen(look)));
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        throw new CommitPendingException(
            "interrupted while waiting for a commit; its outcome is still open");
      }
    }

    private static String seen(CompletableFuture<String> look) {
      String text = look.isDone() && !look.isCompletedExceptionally() ? look.join() : "";
      return text.isEmpty() ? "" : "; " + text;
    }
  }

  /**
   * Whether the WAL, or Redis, has a commit. There is a future only where somebody asked for it,
   * which for most commits nobody does: the end of such a one costs an atomic operation.
   * Thread-safe.
   */
  static final class LazyFuture extends AtomicReference<@Nullable CompletableFuture<Void>> {
    private static final long serialVersionUID = 1L;

    /** Of all that nobody had asked for when they ended well. */
    private static final CompletableFuture<Void> ARRIVED = CompletableFuture.completedFuture(null);

    /** It ended well, unless it has failed. */
    void arrived() {
      if (!compareAndSet(null, ARRIVED)) {
        boolean unused = future().complete(null);
      }
    }

    /** It failed, unless it has arrived. */
    void failed(RuntimeException reason) {
      boolean unused = future().completeExceptionally(reason);
    }

    /** Not for the game: it ends on the sender's thread. */
    CompletableFuture<Void> future() {
      CompletableFuture<Void> asked = get();
      if (asked == null) {
        CompletableFuture<Void> created = new CompletableFuture<>();
        asked = compareAndSet(null, created) ? created : future();
      }
      return asked;
    }
  }
}
