package io.gameq.healing;

import io.gameq.redis.script.ReplayScript.Owner;
import java.util.List;

/** Where lost rows go. One thread. */
public interface ReplayTarget {
  /**
   * Writes groups of owners; within each, rows become visible together where the target can.
   *
   * @throws io.gameq.GameQueueException when the server refuses or does not answer: what was
   *     written stays, and writing everything again is safe
   */
  void write(List<List<Owner>> groups, ReplayReport report);

  /** Everything was handed over: writes what was put off until then. */
  default void finish(ReplayReport report) {}
}
