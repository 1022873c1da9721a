package io.gameq;

import io.gameq.config.GameQueueConfigBuilder;
import java.time.Clock;

/** Gives nodes a host clock that may be wrong. Stateless. */
public final class WrongClock {
  private WrongClock() {}

  /** Gives a node a host clock that may be wrong. */
  public static GameQueueConfigBuilder of(GameQueueConfigBuilder config, Clock clock) {
    return config.clock(clock);
  }
}
