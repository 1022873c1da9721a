package io.gameq.lab.compare;

import io.gameq.lab.report.Figures;
import java.util.List;
import java.util.Map;

/**
 * What a child process that measured has to say; travels as JSON.
 *
 * @param acknowledged actions of each game thread: what MySQL must hold follows from them
 * @param settings of the contender
 * @param samples while the load lasted
 */
@SuppressWarnings("ArrayRecordComponent") // compared by nobody
record ChildReport(
    List<Figures.Value> figures,
    long[] acknowledged,
    Map<String, String> settings,
    List<LoadSamples.Sample> samples) {
  /**
   * What a writer's process answers when it is asked how much it did.
   *
   * @param rows sent to MySQL so far
   * @param cpuNanos of all its threads so far
   * @param heapBytes after the last collection, 0 when there was none
   * @param longestGcMillis since it was asked last
   */
  record Written(long rows, long cpuNanos, long heapBytes, long longestGcMillis) {}
}
