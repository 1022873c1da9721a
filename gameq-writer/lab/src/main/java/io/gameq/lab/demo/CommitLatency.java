package io.gameq.lab.demo;

import org.HdrHistogram.Histogram;
import org.HdrHistogram.Recorder;

/** How long commits took until Redis had them. Any thread records; one reads. */
final class CommitLatency {
  /** Three digits: what a latency report shows. */
  private static final int DIGITS = 3;

  private final Recorder recorder = new Recorder(DIGITS);
  private final Histogram all = new Histogram(DIGITS);

  void record(long nanos) {
    recorder.recordValue(Math.max(0, nanos));
  }

  /** Those since the last call, nanoseconds. */
  Histogram sinceLastCall() {
    Histogram interval = recorder.getIntervalHistogram();
    all.add(interval);
    return interval;
  }

  /** All, nanoseconds. */
  Histogram all() {
    sinceLastCall();
    return all;
  }
}
