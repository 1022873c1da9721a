package io.gameq.writer.bench;

import io.gameq.writer.bench.workload.Workload;
import java.util.Set;

/**
 * How a benchmark runs; immutable.
 *
 * @param actions of all threads, in each of the measured parts of a round
 * @param rounds measured, after one that warms up; the report shows medians
 * @param inFlight commits of one thread that wait for Redis at full pressure
 * @param handOvers share of the actions after which their player is closed and opened again
 * @param workers threads of the writer, and connections of the raw MySQL run
 * @param mergeWindowMillis how long dirty rows wait while both are at work
 * @param seconds how long both are at work
 * @param backlogRows rows that wait in Redis in the backlog part
 */
record BenchOptions(
    Workload.Shape shape,
    long actions,
    int rounds,
    int inFlight,
    double handOvers,
    int workers,
    int slots,
    long mergeWindowMillis,
    int seconds,
    long backlogRows,
    Set<Part> parts) {
  /** What a round measures. */
  enum Part {
    CLOSED,
    PACED,
    PRESSURE,
    DRAIN,
    LIMITS
  }

  boolean has(Part part) {
    return parts.contains(part);
  }
}
