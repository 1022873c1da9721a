package io.gameq.writer.console;

import java.util.Map;

/**
 * What the meters of a writer said at a moment; immutable. Counts go on rising, so that two of them
 * give a rate.
 *
 * @param number of the beat, rising
 * @param atMillis since 1970
 * @param commits that Redis took of all nodes; -1 when it is not known, as the next
 * @param committedRows of these
 * @param rows written, as the next two since the writer started
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
    long commits,
    long committedRows,
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
