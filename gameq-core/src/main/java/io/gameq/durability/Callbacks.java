package io.gameq.durability;

import io.gameq.agent.AgentRunner.DaemonThreads;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Runs the game's own code, what it hangs on futures and its listeners, one after another and in
 * order, on one executor: never on a thread that gameq needs itself. Thread-safe.
 */
public final class Callbacks implements Executor, AutoCloseable {
  /** Beyond, commits wait: what the game is told would take more and more memory. */
  public static final int MOST_WAITING = 100_000;

  /** Then the executor's other work has its turn. */
  private static final int MOST_IN_A_ROW = 1_000;

  private static final long CLOSE_SECONDS = 5;

  private static final String THREAD_NAME = "gameq-callbacks";

  private static final Logger LOG = LoggerFactory.getLogger(Callbacks.class);

  private final Executor executor;
  private final @Nullable ExecutorService own;
  private final Queue<Runnable> tasks = new ConcurrentLinkedQueue<>();
  private final AtomicInteger waiting = new AtomicInteger();
  private final AtomicBoolean scheduled = new AtomicBoolean();
  private volatile @Nullable Thread running;
  private volatile @Nullable Handover handover;
  private volatile boolean isClosedByOne;

  private Callbacks(Executor executor, @Nullable ExecutorService own) {
    this.executor = executor;
    this.own = own;
  }

  /** On the game's executor, or on a thread of their own. */
  public static Callbacks on(@Nullable Executor ofGame) {
    if (ofGame != null) {
      return new Callbacks(ofGame, null);
    }
    ExecutorService thread = DaemonThreads.single(THREAD_NAME);
    return new Callbacks(thread, thread);
  }

  @Override
  public void execute(Runnable task) {
    tasks.add(task);
    waiting.incrementAndGet();
    schedule();
  }

  private void schedule() {
    if (!scheduled.compareAndSet(false, true)) {
      return;
    }
    Handover next = new Handover();
    handover = next;
    try {
      executor.execute(next);
      next.givenBy = null;
    } catch (RuntimeException | Error e) { // the game is to be told all the same
      LOG.debug("the executor of callbacks takes none: {}", e.toString());
      if (next.begins()) {
        runOnAThread();
      }
    }
  }

  /** What the executor is given: begins once, there or in {@link #runLeft}. */
  private final class Handover implements Runnable {
    private final AtomicBoolean begun = new AtomicBoolean();
    private volatile @Nullable Thread givenBy = Thread.currentThread();

    boolean begins() {
      return begun.compareAndSet(false, true);
    }

    /** An executor may run what it has no room for on the thread that hands it over, as gameq's. */
    @Override
    public void run() {
      if (!begins()) {
        return;
      }
      if (Thread.currentThread().equals(givenBy)) {
        runOnAThread();
      } else {
        runSome();
      }
    }
  }

  private void runOnAThread() {
    boolean started = false;
    try {
      DaemonThreads.named(THREAD_NAME, this::runSome).start();
      started = true;
    } finally {
      if (!started) {
        scheduled.set(false); // the next one tries again
      }
    }
  }

  private void runSome() {
    running = Thread.currentThread();
    for (int n = 0; n < MOST_IN_A_ROW; n++) {
      Runnable task = tasks.poll();
      if (task == null) {
        break;
      }
      waiting.decrementAndGet();
      run(task);
    }
    running = null;
    scheduled.set(false);
    if (!tasks.isEmpty()) {
      schedule();
    }
  }

  private static void run(Runnable task) {
    try {
      task.run();
    } catch (RuntimeException | Error e) { // the next ones are to run all the same
      LOG.error("a callback of the game failed", e);
    }
  }

  /** How many wait. */
  public int waiting() {
    return waiting.get();
  }

  /**
   * Waits until few enough callbacks wait; false when the time was up. A callback itself does not
   * wait: it would wait for itself.
   */
  public boolean awaitRoom(long deadlineNanos) {
    while (waiting.get() >= MOST_WAITING && !Thread.currentThread().equals(running)) {
      if (deadlineNanos - System.nanoTime() <= 0 || Thread.currentThread().isInterrupted()) {
        return false;
      }
      LockSupport.parkNanos(this, TimeUnit.MILLISECONDS.toNanos(1));
    }
    return true;
  }

  /**
   * A future for the game that ends as {@code known} does: what the game hangs on it runs here, or,
   * where that has ended already, on the thread that hangs it on.
   */
  public CompletableFuture<Void> tell(CompletableFuture<Void> known) {
    CompletableFuture<Void> told = new CompletableFuture<>();
    Executor here = known.isDone() ? Runnable::run : this;
    known.whenComplete((nothing, error) -> here.execute(() -> end(told, error)));
    return told;
  }

  private static void end(CompletableFuture<Void> told, @Nullable Throwable error) {
    if (error == null) {
      told.complete(null);
    } else {
      told.completeExceptionally(cause(error));
    }
  }

  /** What a stage failed with, without what a stage before it wrapped it into. */
  public static Throwable cause(Throwable error) {
    return error instanceof CompletionException wrapped && wrapped.getCause() != null
        ? wrapped.getCause()
        : error;
  }

  /** Whoever calls this waits for {@link #close}, which does not wait for a callback that does. */
  public void closeSoon() {
    isClosedByOne = Thread.currentThread().equals(running);
  }

  /**
   * Runs, on this thread, what the game's executor has not begun to run: one that was shut down may
   * have dropped it. For whoever has closed the node; begins no more than 1,000 after the deadline.
   */
  public void runLeft(long deadlineNanos) {
    Handover last = own == null ? handover : null;
    while (last != null && last.begins()) {
      runSome();
      last = deadlineNanos - System.nanoTime() > 0 ? handover : null;
    }
  }

  /**
   * Lets up to 1,000 that wait run, for at most 5 s; the game's own executor is not waited for, nor
   * is a callback that closes the node itself.
   */
  @Override
  public void close() {
    if (own == null) {
      return;
    }
    own.shutdown();
    if (isClosedByOne || Thread.currentThread().equals(running)) {
      return;
    }
    try {
      if (!own.awaitTermination(CLOSE_SECONDS, TimeUnit.SECONDS)) {
        LOG.warn("{} callbacks of the game did not end within {} s", waiting, CLOSE_SECONDS);
        own.shutdownNow();
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
