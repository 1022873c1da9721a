package io.gameq.spring;

import io.gameq.config.GameQueueConfigBuilder;

/**
 * Sets what has no property, such as limits and listeners: a bean of this type is called with what
 * the properties came to, in its order.
 */
@FunctionalInterface
public interface GameQueueConfigCustomizer {
  /** Changes settings; called once for each start of the context. */
  void customize(GameQueueConfigBuilder settings);
}
