package io.gameq.backlog;

import io.gameq.backlog.NodePressure.BacklogSummary;
import io.gameq.redis.ControlConnection;

/**
 * Shows a node's {@link NodePressure} the latest look at the backlog; to be called about once a
 * second, by one thread.
 *
 * @param redis a connection that nothing else uses
 */
public record PressureWatch(
    NodePressure pressure, ControlConnection redis, SharedBacklog<BacklogSummary> backlog) {
  /** Throws GameQueueException when Redis does not answer; it may be called again. */
  public void look() {
    SharedBacklog.Seen<BacklogSummary> seen = null;
    try {
      seen = redis.call(backlog::latest);
    } finally {
      if (seen == null) {
        pressure.sawNothing();
      }
    }
    if (seen != null) {
      pressure.saw(seen.what(), seen.ageMillis());
    }
  }
}
