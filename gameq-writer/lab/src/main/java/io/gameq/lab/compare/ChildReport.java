package io.gameq.lab.compare;

import io.gameq.lab.report.Figures;
import java.util.List;
import java.util.Map;

/**
 * What a child process that measured has to say; travels as JSON.
 *
 * @param acknowledged actions of each game thread: what MySQL must hold follows from them
 * @param settings of the contender
 */
@SuppressWarnings("ArrayRecordComponent") // compared by nobody
record ChildReport(List<Figures.Value> figures, long[] acknowledged, Map<String, String> settings) {
  /**
   * What a writer's process answers when it is asked how much it did.
   *
   * @param rows sent to MySQL so far
   * @param cpuNanos of all its threads so far
   */
  record Written(long rows, long cpuNanos) {}
}
