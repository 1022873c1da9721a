package io.gameq.lab.demo;

import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.atomic.LongAdder;
import org.HdrHistogram.Histogram;
import org.HdrHistogram.Recorder;
import org.jspecify.annotations.Nullable;

/**
 * Counters of a run, the latency of its commits, and the first thing that went wrong. Thread-safe.
 */
final class DemoStats {
  /** Three digits: what a latency report shows. */
  private static final int DIGITS = 3;

  final LongAdder commits = new LongAdder();
  final LongAdder rowChanges = new LongAdder();
  final LongAdder logins = new LongAdder();
  final LongAdder loginsTriedAgain = new LongAdder();
  final LongAdder moves = new LongAdder();
  final LongAdder trades = new LongAdder();
  final LongAdder reads = new LongAdder();

  private final Recorder latencyNanos = new Recorder(DIGITS);
  private final Histogram all = new Histogram(DIGITS);
  private final AtomicLong errors = new AtomicLong();
  private final AtomicReference<@Nullable String> firstError = new AtomicReference<>();

  /** A commit is in Redis. */
  void queued(long nanos) {
    latencyNanos.recordValue(Math.max(0, nanos));
  }

  /** Latencies since the last call, nanoseconds; for one thread. */
  Histogram latencySinceLastCall() {
    Histogram interval = latencyNanos.getIntervalHistogram();
    all.add(interval);
    return interval;
  }

  /** All latencies, nanoseconds; for the thread that calls {@link #latencySinceLastCall}. */
  Histogram latency() {
    latencySinceLastCall();
    return all;
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
