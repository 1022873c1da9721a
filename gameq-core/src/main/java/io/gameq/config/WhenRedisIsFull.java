package io.gameq.config;

import io.gameq.QueueFullException;
import io.gameq.RedisFullException;

/** What becomes of a commit that Redis refuses because it reached maxmemory. */
public enum WhenRedisIsFull {
  /** It fails with {@link RedisFullException}; the game decides. */
  FAIL,
  /**
   * It waits, with all that are committed after it but acknowledgements of messages, until the
   * writers have drained enough; commits beyond the limits of {@link
   * GameQueueConfigBuilder#maxInFlight} fail with {@link QueueFullException}.
   */
  WAIT
}
