package io.gameq.writer.console;

import io.gameq.agent.AgentRunner.Agent;
import io.gameq.agent.Duty;
import io.gameq.backlog.SharedBacklog.Backlog;
import io.gameq.writer.console.Pulse.Beat.StepSum;
import io.gameq.writer.status.ProcessWatch.FleetWork;
import io.gameq.writer.status.Processes;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Remembers the meters of the last minutes, so that charts have a past when a page is opened.
 * Thread-safe.
 */
final class Pulse {
  private static final Duration EVERY = Duration.ofSeconds(2);

  /** A quarter of an hour, some 200 kB; Prometheus remembers longer. */
  private static final int MOST = 450;

  private static final String STEP = "gameq.writer.step";

  private final MeterRegistry meters;
  private final Console.WriterView writer;
  private final Deque<Beat> beats = new ArrayDeque<>();
  private final FleetWork fleet = new FleetWork();
  private long number;

  Pulse(MeterRegistry meters, Console.WriterView writer) {
    this.meters = meters;
    this.writer = writer;
  }

  Agent duty() {
    return Duty.every(Duration.ZERO, EVERY::toNanos, "remember the meters", this::beat);
  }

  synchronized void beat() {
    Backlog look = writer.backlog().get();
    Processes processes = writer.processes().get();
    if (beats.size() == MOST) {
      beats.removeFirst();
    }
    beats.addLast(
        new Beat(
            ++number,
            System.currentTimeMillis(),
            processes == null ? null : fleet.after(processes),
            count("gameq.writer.rows"),
            flushes(),
            count("gameq.writer.owners"),
            look == null ? -1 : look.owners(),
            look == null ? -1 : look.rows(),
            look == null ? -1 : look.oldestAgeMillis(),
            look == null ? -1 : look.redis().usedBytes(),
            steps()));
  }

  /** The beats after one of them; 0 for all that are remembered. */
  synchronized List<Beat> after(long last) {
    return beats.stream().filter(of -> of.number() > last).toList();
  }

  /** The timers of all steps that were taken. */
  List<Timer> timers() {
    return List.copyOf(meters.find(STEP).timers());
  }

  /** A counter's or gauge's value; 0 when there is none. */
  double count(String name) {
    var counter = meters.find(name).counter();
    return counter == null ? 0 : counter.count();
  }

  /** NaN when there is none, or it is not known. */
  double gauge(String name) {
    var gauge = meters.find(name).gauge();
    return gauge == null ? Double.NaN : gauge.value();
  }

  double flushes() {
    var rows = meters.find("gameq.writer.flush.rows").summary();
    return rows == null ? 0 : rows.count();
  }

  private Map<String, StepSum> steps() {
    Map<String, StepSum> steps = new HashMap<>();
    for (Timer timer : timers()) {
      steps.put(name(timer), new StepSum(timer.count(), timer.totalTime(TimeUnit.MILLISECONDS)));
    }
    return steps;
  }

  static String name(Timer timer) {
    return String.valueOf(timer.getId().getTag("step"));
  }

  /**
   * What the meters of a writer said at a moment; immutable. Counts go on rising, so that two of
   * them give a rate.
   *
   * @param number of the beat, rising
   * @param atMillis since 1970
   * @param fleet what all nodes and writers did; null when it is not known
   * @param rows that this writer wrote, as the next two since it started
   * @param flushes transactions that committed
   * @param owners claims that were flushed
   * @param waitingOwners owners that wait or are claimed; -1 when it is not known, as the next
   *     three
   * @param waitingRows rows that wait, estimated
   * @param oldestMillis how long the oldest row waits
   * @param redisBytes memory that Redis uses
   * @param steps by their names
   */
  record Beat(
      long number,
      long atMillis,
      FleetWork.@Nullable Sum fleet,
      double rows,
      double flushes,
      double owners,
      long waitingOwners,
      long waitingRows,
      long oldestMillis,
      long redisBytes,
      Map<String, StepSum> steps) {
    /** How often a step was taken, and how long that took in all. */
    record StepSum(long count, double millis) {}
  }
}
