package io.gameq.lab.bench;

import io.gameq.lab.workload.Workload;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;

/**
 * How a benchmark runs; immutable. What each is, with its limits, stands in {@link
 * io.gameq.lab.workload.WorkloadOptions} and {@link MeasureOptions}.
 *
 * @param handOvers share of the actions after which their player is closed and opened again
 * @param actions of all threads, in each of the measured parts of a round
 * @param inFlight commits of one thread that wait for Redis at full pressure
 * @param workers threads of the writer, and connections of the raw MySQL run
 */
record BenchOptions(
    Workload.Shape shape,
    double handOvers,
    long actions,
    Rounds rounds,
    int inFlight,
    int workers,
    int slots,
    long mergeWindowMillis,
    Both both,
    Backlog backlog,
    Set<Part> parts) {
  /** What is measured: the first five in each round, in this order; then the others, once. */
  enum Part {
    CLOSED,
    PACED,
    PRESSURE,
    DRAIN,
    LIMITS,
    BOTH,
    LOGINS,
    BACKLOG,
    RECOVERY,
    TOPICS;

    /** The name in options and results. */
    String label() {
      return name().toLowerCase(java.util.Locale.ROOT);
    }
  }

  /**
   * How often what is measured in rounds is measured; the report shows medians.
   *
   * @param warmUpSeconds how long rounds that do not count go on before
   */
  record Rounds(int count, int warmUpSeconds) {
    /** When it has been warmed up, if that begins now: a System.nanoTime(). */
    long warmNanos() {
      return System.nanoTime() + TimeUnit.SECONDS.toNanos(warmUpSeconds);
    }
  }

  /**
   * Game and writer at once.
   *
   * @param perSecond actions that are due, of all threads; 0: a closed loop
   */
  record Both(int seconds, int perSecond) {}

  /**
   * Rows that wait without a writer.
   *
   * @param rewrites how often each of them is written again
   */
  record Backlog(long rows, int rewrites) {}

  boolean has(Part part) {
    return parts.contains(part);
  }

  /** For a result. */
  Map<String, Object> json() {
    Map<String, Object> json = shape.json();
    json.put("handOvers", handOvers);
    json.put("actions", actions);
    json.put("rounds", rounds.count());
    json.put("warmUpSeconds", rounds.warmUpSeconds());
    json.put("inFlight", inFlight);
    json.put("workers", workers);
    json.put("slots", slots);
    json.put("mergeWindowMillis", mergeWindowMillis);
    json.put("seconds", both.seconds());
    json.put("rate", both.perSecond());
    json.put("backlogRows", backlog.rows());
    json.put("rewrites", backlog.rewrites());
    json.put("parts", parts.stream().sorted().map(Part::label).toList());
    return json;
  }

  /** The same with other players, rows or bytes. */
  BenchOptions with(Workload.Shape other) {
    return new BenchOptions(
        other,
        handOvers,
        actions,
        rounds,
        inFlight,
        workers,
        slots,
        mergeWindowMillis,
        both,
        backlog,
        parts);
  }

  /** The same with other slots. */
  BenchOptions withSlots(int other) {
    return new BenchOptions(
        shape,
        handOvers,
        actions,
        rounds,
        inFlight,
        workers,
        other,
        mergeWindowMillis,
        both,
        backlog,
        parts);
  }
}
