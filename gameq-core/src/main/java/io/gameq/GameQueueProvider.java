package io.gameq;

import io.gameq.config.GameQueueConfig;

/**
 * Starts a node. gameq implements it itself, so that this package knows nothing of what is behind
 * it; games call {@link GameQueue#open(GameQueueConfig)}.
 */
public interface GameQueueProvider {
  /** As {@link GameQueue#open(GameQueueConfig)}. */
  GameQueue open(GameQueueConfig config);
}
