package io.gameq.spring;

import io.gameq.GameQueue;

/** A bean of this type is told when the queue is open: the place to subscribe to topics. */
@FunctionalInterface
public interface GameQueueListener {
  /**
   * Called before beans of a later phase start; what it throws fails the start as a queue that
   * cannot be opened does.
   */
  void opened(GameQueue queue);
}
