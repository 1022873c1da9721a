package io.gameq.lab.demo;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;

/**
 * Counters of a run, the latency of its commits, and the first thing that went wrong. Thread-safe.
 */
final class DemoStats {
  final LongAdder commits = new LongAdder();
  final LongAdder rowChanges = new LongAdder();
  final LongAdder logins = new LongAdder();
  final LongAdder loginsTriedAgain = new LongAdder();
  final LongAdder moves = new LongAdder();
  final LongAdder trades = new LongAdder();
  final LongAdder reads = new LongAdder();

  /** Of commits while some players still logged in for the first time. */
  final CommitLatency whileLoggingIn = new CommitLatency();

  /** Of commits once all were in. */
  final CommitLatency allPlaying = new CommitLatency();

  private final AtomicInteger notInYet;
  private volatile long began;
  private volatile boolean allIn;
  private volatile long allInNanos;
  private final AtomicLong errors = new AtomicLong();
  private final AtomicReference<@Nullable String> firstError = new AtomicReference<>();

  DemoStats(int players) {
    notInYet = new AtomicInteger(players);
  }

  /** The players begin to log in. */
  void begin() {
    began = System.nanoTime();
  }

  /** A player logged in for the first time. */
  void isIn() {
    if (notInYet.decrementAndGet() == 0) {
      allInNanos = System.nanoTime() - began;
      allIn = true;
    }
  }

  /** A commit is in Redis. */
  void queued(long nanos) {
    (allIn ? allPlaying : whileLoggingIn).record(nanos);
  }

  /** How long the first logins of all players took; NaN when some were not in. */
  double loginSeconds() {
    return allIn ? allInNanos / 1e9 : Double.NaN;
  }

  void error(Throwable error) {
    errors.incrementAndGet();
    firstError.compareAndSet(null, String.valueOf(error.getMessage()));
  }

  long errors() {
    return errors.get();
  }

  @Nullable String firstError() {
    return firstError.get();
  }
}
