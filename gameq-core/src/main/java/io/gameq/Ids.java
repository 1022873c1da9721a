package io.gameq;

import io.gameq.config.GameQueueConfigBuilder;

/**
 * Ids for new rows of one table, as AUTO_INCREMENT would give them: {@link GameQueue#ids}.
 * Thread-safe.
 */
public interface Ids {
  /**
   * An id that nobody has had and nobody else gets, of whatever node. Larger than those before on
   * this node; not without gaps: what a node has left when it ends is never used.
   *
   * <p>Returns at once, as a rule: the next range is taken from MySQL while half of this one is
   * left. Only where that came too late does it wait, for {@link
   * GameQueueConfigBuilder#callTimeout} at most.
   *
   * @throws MySqlUnavailableException when no ids are left here and MySQL is away
   * @throws GameQueueException when the column holds no larger ids
   */
  long next();
}
