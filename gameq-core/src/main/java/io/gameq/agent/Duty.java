package io.gameq.agent;

import io.gameq.agent.AgentRunner.Agent;
import java.time.Duration;
import java.util.function.LongSupplier;

/** An agent that does one thing every so often, however it ended. Used by one thread. */
public final class Duty implements Agent {
  /** Of the rest, by which it may come early: duties of one interval are done in one round. */
  private static final int EARLY_SHARE = 16;

  private final String name;
  private final Runnable work;
  private final LongSupplier restNanos;
  private final LongSupplier nanoTime;
  private Runnable atEnd = () -> {};
  private long dueNanos;
  private long earlyNanos;

  private Duty(
      String name, Runnable work, long firstNanos, LongSupplier restNanos, LongSupplier nanoTime) {
    this.name = name;
    this.work = work;
    this.restNanos = restNanos;
    this.nanoTime = nanoTime;
    dueAfter(firstNanos);
  }

  /** A duty that is done for the first time after one interval, then one after each end. */
  public static Duty every(Duration interval, String name, Runnable work) {
    return every(interval, name, work, System::nanoTime);
  }

  static Duty every(Duration interval, String name, Runnable work, LongSupplier nanoTime) {
    return new Duty(name, work, interval.toNanos(), interval::toNanos, nanoTime);
  }

  /**
   * A duty with intervals that differ.
   *
   * @param first until it is done for the first time
   * @param restNanos asked for the next interval, ns, each time it has been done
   */
  public static Duty every(Duration first, LongSupplier restNanos, String name, Runnable work) {
    return new Duty(name, work, first.toNanos(), restNanos, System::nanoTime);
  }

  /** Has something done once, after its last step. */
  public Duty endingWith(Runnable work) {
    atEnd = work;
    return this;
  }

  private void dueAfter(long nanos) {
    dueNanos = nanoTime.getAsLong() + nanos;
    earlyNanos = nanos / EARLY_SHARE;
  }

  @Override
  public String name() {
    return name;
  }

  @Override
  public int doWork() {
    if (idleNanos() > earlyNanos) {
      return 0;
    }
    try {
      work.run();
    } finally {
      dueAfter(restNanos.getAsLong());
    }
    return 1;
  }

  @Override
  public long idleNanos() {
    return Math.max(0, dueNanos - nanoTime.getAsLong());
  }

  @Override
  public void close() {
    atEnd.run();
  }
}
