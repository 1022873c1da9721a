package io.gameq.writer.console;

import io.gameq.writer.process.FleetWork;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What the meters of a writer said at a moment; immutable. Counts go on rising, so that two of them
 * give a rate.
 *
 * @param number of the beat, rising
 * @param atMillis since 1970
 * @param fleet what all nodes and writers did; null when it is not known
 * @param rows that this writer wrote, as the next two since it started
 * @param flushes transactions that committed
 * @param owners claims that were flushed
 * @param waitingOwners owners that wait or are claimed; -1 when it is not known, as the next three
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
