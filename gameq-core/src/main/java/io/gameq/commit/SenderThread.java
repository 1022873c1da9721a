package io.gameq.commit;

import io.gameq.agent.AgentRunner.DaemonThreads;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The thread of a sender, which lends its work to the event loop of its connection. As long as all
 * is well the event loop does the work, so that no other thread has to be woken to write, or for a
 * reply; where answers have to be waited for, the thread does it. Never both, and what one has done
 * the other sees. {@link #wake} is called by any thread.
 */
final class SenderThread {
  /** How often the work is looked at though nobody asked for it. */
  private static final long LOOK_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

  private final ScheduledExecutorService eventLoop;
  private final BooleanSupplier workWithoutWaiting;
  private final Thread thread;
  private final AtomicBoolean scheduled = new AtomicBoolean();
  private final AtomicBoolean planned = new AtomicBoolean();
  private volatile boolean lent;
  private volatile boolean parked;
  private volatile @Nullable Throwable failure;

  /**
   * A thread that is not started yet.
   *
   * @param workWithoutWaiting does what there is to do on the event loop; false when the thread has
   *     to go on
   * @param work what the thread does until it ends
   */
  SenderThread(
      ScheduledExecutorService eventLoop, BooleanSupplier workWithoutWaiting, Runnable work) {
    this.eventLoop = eventLoop;
    this.workWithoutWaiting = workWithoutWaiting;
    thread = DaemonThreads.named("gameq-sender", work);
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

  /** There is something to do, in no more than so long. */
  void wakeWithin(long nanos) {
    if (!lent) {
      wake();
    } else if (planned.compareAndSet(false, true)) {
      onEventLoop(planned, nanos);
    }
  }

  private void schedule() {
    if (scheduled.compareAndSet(false, true)) {
      onEventLoop(scheduled, 0);
    }
  }

  private void onEventLoop(AtomicBoolean flag, long nanos) {
    Runnable work =
        () -> {
          flag.set(false);
          workOnEventLoop();
        };
    try {
      if (nanos <= 0) {
        eventLoop.execute(work);
      } else {
        Future<?> unused = eventLoop.schedule(work, nanos, TimeUnit.NANOSECONDS);
      }
    } catch (RejectedExecutionException e) { // it has ended, and so does nothing any more
      flag.set(false);
      giveBack();
    }
  }

  private void workOnEventLoop() {
    if (!lent) {
      return;
    }
    boolean stays = false;
    try {
      stays = workWithoutWaiting.getAsBoolean();
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

  /**
   * By the thread: has the event loop do the work until it cannot go on. Throws what the work
   * threw.
   */
  void lendToEventLoop() {
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
