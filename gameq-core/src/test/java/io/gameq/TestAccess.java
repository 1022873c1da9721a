package io.gameq;

import java.time.Clock;

/** What tests in other packages need of this one and games do not. Stateless. */
public final class TestAccess {
  private TestAccess() {}

  /** The epoch that MySQL gave a session: rising with every open of its owner. */
  public static long epoch(OwnerSession session) {
    return session.ref().id().epoch();
  }

  /** Gives a node a host clock that may be wrong. */
  public static GameQueueConfigBuilder clock(GameQueueConfigBuilder config, Clock clock) {
    return config.clock(clock);
  }
}
