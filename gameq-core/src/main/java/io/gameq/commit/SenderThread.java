package io.gameq.commit;

import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Who does the sender's work: the event loop of its connection as long as all is well, so that no
 * other thread has to be woken to write or for a reply; else a thread of its own, which may wait
 * for answers. Never both, and what one has done the other sees. {@link #wake} is called by any
 * thread.
 */
final class SenderThread {
  /** How often the work is looked at though nobody asked for it. */
  private static final long LOOK_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

  private final Executor loop;
  private final BooleanSupplier turn;
  private final Thread thread;
  private final AtomicBoolean scheduled = new AtomicBoolean();
  private volatile boolean lent;
  private volatile boolean parked;
  private volatile @Nullable Throwable failure;

  /**
   * A baton in the thread's hand.
   *
   * @param turn does what there is to do on the event loop, without waiting; false when the thread
   *     has to go on
   * @param work of the thread
   */
  SenderThread(Executor loop, BooleanSupplier turn, String name, Runnable work) {
    this.loop = loop;
    this.turn = turn;
    thread = new Thread(work, name);
    thread.setDaemon(true);
  }

  void start() {
    thread.start();
  }

  /** There is something to do. */
  void wake() {
    if (lent) {
      schedule();
    } else if (parked) {
      LockSupport.unpark(thread);
    }
  }

  private void schedule() {
    if (scheduled.compareAndSet(false, true)) {
      try {
        loop.execute(this::take);
      } catch (RejectedExecutionException e) { // it has ended, and so does nothing any more
        scheduled.set(false);
        giveBack();
      }
    }
  }

  /** On the event loop. */
  private void take() {
    scheduled.set(false);
    if (!lent) {
      return;
    }
    boolean stays = false;
    try {
      stays = turn.getAsBoolean();
    } catch (RuntimeException | Error e) {
      failure = e;
    }
    if (!stays) {
      giveBack();
    }
  }

  private void giveBack() {
    lent = false;
    LockSupport.unpark(thread);
  }

  /** By the thread: has the event loop work until it cannot go on. Throws what its work threw. */
  void lend() {
    lent = true;
    schedule();
    while (lent) {
      LockSupport.parkNanos(this, LOOK_NANOS);
      if (lent) {
        schedule();
      }
    }
    if (failure instanceof RuntimeException e) {
      throw e;
    }
    if (failure instanceof Error e) {
      throw e;
    }
  }

  /** By the thread: waits so long, or until woken, when there is nothing to do. */
  void rest(BooleanSupplier nothing, long nanos) {
    parked = true;
    if (nothing.getAsBoolean()) {
      LockSupport.parkNanos(this, Math.max(1, nanos));
    }
    parked = false;
  }

  /** Waits for the thread's end; false when the time was up. */
  boolean join(long millis) {
    LockSupport.unpark(thread);
    try {
      thread.join(Math.max(1, millis));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    return !thread.isAlive();
  }
}
