package io.gameq.lab.peers;

import com.sun.management.ThreadMXBean;
import io.gameq.lab.bench.workload.Actions;
import io.gameq.lab.bench.workload.Workload;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.ObjLongConsumer;
import org.HdrHistogram.ConcurrentHistogram;
import org.HdrHistogram.Histogram;
import org.jspecify.annotations.Nullable;

/** Game threads at work: the actions of a workload through a contender. One use. */
final class PeerLoad {
  private static final int DIGITS = 3;
  private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

  private final Contender contender;
  private final Workload workload;
  private final long actionsPerThread;
  private final int inFlight;
  private final ObjLongConsumer<Integer> onAcknowledged;
  private final Histogram latencyNanos = new ConcurrentHistogram(DIGITS);
  private final Histogram callNanos = new ConcurrentHistogram(DIGITS);

  /**
   * A load.
   *
   * @param inFlight most unacknowledged actions of a thread; 1: closed loop
   * @param onAcknowledged told by the game thread, in a closed loop alone: thread and number of the
   *     action
   */
  PeerLoad(
      Contender contender,
      Workload workload,
      long actionsPerThread,
      int inFlight,
      ObjLongConsumer<Integer> onAcknowledged) {
    this.contender = contender;
    this.workload = workload;
    this.actionsPerThread = actionsPerThread;
    this.inFlight = inFlight;
    this.onAcknowledged = onAcknowledged;
  }

  /**
   * What was measured.
   *
   * @param startNanos of {@link System#nanoTime}, when the game threads were let go
   * @param endNanos when the last action was acknowledged
   * @param latencyNanos from the call to the acknowledgement
   * @param callNanos what the call itself kept the game thread, under pressure
   * @param allocatedBytes by game threads, the making of the rows included
   */
  record Taken(
      long startNanos,
      long endNanos,
      Histogram latencyNanos,
      Histogram callNanos,
      long allocatedBytes) {}

  /** Runs all threads to their end. */
  Taken run() throws Exception {
    int threads = workload.shape().threads();
    ExecutorService executor = Executors.newFixedThreadPool(threads);
    CountDownLatch ready = new CountDownLatch(threads);
    CountDownLatch go = new CountDownLatch(1);
    try {
      List<Future<Long>> ends = new ArrayList<>();
      for (int thread = 0; thread < threads; thread++) {
        int number = thread;
        ends.add(executor.submit(() -> play(number, ready, go)));
      }
      ready.await();
      long start = System.nanoTime();
      go.countDown();
      long allocated = 0;
      for (Future<Long> end : ends) {
        allocated += end.get();
      }
      return new Taken(start, System.nanoTime(), latencyNanos, callNanos, allocated);
    } finally {
      executor.shutdownNow();
    }
  }

  private long play(int thread, CountDownLatch ready, CountDownLatch go) throws Exception {
    Actions actions = workload.actions(thread);
    long before;
    try (Contender.GameThread game = contender.gameThread(thread)) {
      ready.countDown();
      go.await();
      before = THREADS.getCurrentThreadAllocatedBytes();
      if (inFlight == 1) {
        closedLoop(thread, actions, game);
      } else {
        pressure(actions, game);
      }
      return THREADS.getCurrentThreadAllocatedBytes() - before;
    } finally {
      ready.countDown(); // when the game thread could not connect
    }
  }

  private void closedLoop(int thread, Actions actions, Contender.GameThread game) throws Exception {
    for (long n = 0; n < actionsPerThread; n++) {
      actions.next();
      long start = System.nanoTime();
      game.performAndWait(actions);
      latencyNanos.recordValue(System.nanoTime() - start);
      onAcknowledged.accept(thread, actions.seq());
    }
  }

  private void pressure(Actions actions, Contender.GameThread game) throws Exception {
    Semaphore room = new Semaphore(inFlight);
    AtomicReference<@Nullable Throwable> failure = new AtomicReference<>();
    for (long n = 0; n < actionsPerThread && failure.get() == null; n++) {
      actions.next();
      room.acquire();
      long start = System.nanoTime();
      CompletableFuture<Void> acknowledged = game.perform(actions);
      callNanos.recordValue(System.nanoTime() - start);
      acknowledged.whenComplete(
          (done, error) -> {
            latencyNanos.recordValue(System.nanoTime() - start);
            if (error != null) {
              failure.set(error);
            }
            room.release();
          });
    }
    room.acquire(inFlight);
    Throwable reason = failure.get();
    if (reason != null) {
      throw new IllegalStateException("an action failed: " + reason.getMessage(), reason);
    }
  }
}
