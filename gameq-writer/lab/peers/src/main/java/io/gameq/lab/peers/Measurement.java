package io.gameq.lab.peers;

import org.HdrHistogram.Histogram;

/**
 * What a child process measured; travels as JSON through its standard output. Immutable.
 *
 * @param acceptedSeconds from the first action to the last acknowledgement
 * @param endToEndSeconds from the first action until MySQL held everything
 * @param complete whether MySQL held everything; else {@code endToEndSeconds} ends when the
 *     contender thought so
 * @param rowsWritten to MySQL
 * @param distinctRows that the actions changed
 * @param prepareSeconds logins and the like, not part of anything else
 * @param gcMillis of all collections from the first action to the last acknowledgement
 * @param gameThreadBytes allocated by a game thread for an action, its rows included
 */
record Measurement(
    double acceptedSeconds,
    double endToEndSeconds,
    boolean complete,
    long changes,
    long rowsWritten,
    long distinctRows,
    Percentiles latency,
    Percentiles call,
    double prepareSeconds,
    long gcMillis,
    long gameThreadBytes) {

  /** Of a time, us. */
  record Percentiles(double p50, double p90, double p99, double p999, double max) {
    static Percentiles ofNanos(Histogram nanos) {
      return new Percentiles(
          nanos.getValueAtPercentile(50) / 1e3,
          nanos.getValueAtPercentile(90) / 1e3,
          nanos.getValueAtPercentile(99) / 1e3,
          nanos.getValueAtPercentile(99.9) / 1e3,
          nanos.getMaxValue() / 1e3);
    }
  }

  double acceptedPerSecond() {
    return changes / acceptedSeconds;
  }

  double endToEndPerSecond() {
    return changes / endToEndSeconds;
  }
}
