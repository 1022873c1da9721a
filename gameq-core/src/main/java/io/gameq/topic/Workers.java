package io.gameq.topic;

import io.gameq.agent.DaemonThreads;
import io.gameq.redis.topic.TakenMessage;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.atomic.AtomicInteger;

/** The threads of a subscription, on which its handlers run. Thread-safe. */
final class Workers {
  private static final long IDLE_SECONDS = 60;

  private final ExecutorService threads;
  private final Handling<?> handling;
  private final SubscriptionCounts counts;
  private final Runnable wake;
  private final AtomicInteger busy = new AtomicInteger();
  private final Set<Thread> running = ConcurrentHashMap.newKeySet();

  /** With so many threads at most; {@code wake} tells the consumer that one is free. */
  Workers(String name, int most, Handling<?> handling, SubscriptionCounts counts, Runnable wake) {
    this.threads = DaemonThreads.pool(name, most, IDLE_SECONDS);
    this.handling = handling;
    this.counts = counts;
    this.wake = wake;
  }

  /** Handlers that run, or are about to. */
  int busy() {
    return busy.get();
  }

  /**
   * Runs the handler on some messages, on a thread that is free.
   *
   * @param leaseEndNanos of all of them, by System.nanoTime
   */
  void run(List<TakenMessage> messages, long leaseEndNanos) {
    List<TakenMessage> some = List.copyOf(messages);
    busy.incrementAndGet();
    counts.began(some.size());
    threads.execute(() -> handle(some, leaseEndNanos));
  }

  private void handle(List<TakenMessage> some, long leaseEndNanos) {
    running.add(Thread.currentThread());
    try {
      handling.run(some, leaseEndNanos);
    } finally {
      running.remove(Thread.currentThread());
      counts.ended(some.size());
      busy.decrementAndGet();
      wake.run();
    }
  }

  /** Whether this thread runs a handler. */
  boolean isHandler() {
    return running.contains(Thread.currentThread());
  }

  /** Lets its threads end once they are free. */
  void close() {
    threads.shutdown();
  }

  /** Interrupts handlers that still run. */
  void interrupt() {
    threads.shutdownNow();
  }
}
