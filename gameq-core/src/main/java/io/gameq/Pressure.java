package io.gameq;

import io.gameq.config.GameQueueConfigBuilder;
import io.gameq.config.PushBack;

/**
 * A threshold of the backlog that is passed, as {@link GameQueueConfigBuilder#onPressure} tells it.
 * Immutable.
 *
 * @param of what is measured
 * @param policy what becomes of commits meanwhile
 * @param value what was measured, in the unit of {@code of}
 * @param limit the threshold, in the same unit
 * @param isOn true when the pressure began, or lasts; false when it ended
 */
public record Pressure(Of of, PushBack policy, double value, double limit, boolean isOn) {
  /** What a threshold is about. */
  public enum Of {
    /** How long the oldest change of the whole game waits for MySQL, at least; seconds. */
    AGE,
    /** Rows of the whole game that wait for MySQL, estimated. */
    ROWS,
    /** Used memory of Redis as a share of its {@code maxmemory}, 0 to 1; 0 without one. */
    MEMORY
  }
}
