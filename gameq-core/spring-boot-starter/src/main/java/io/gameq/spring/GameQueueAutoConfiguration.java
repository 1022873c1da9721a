package io.gameq.spring;

import io.gameq.GameQueue;
import io.gameq.config.GameQueueConfigBuilder;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.annotation.Bean;

/** A {@link GameQueue} to inject, unless the application has one of its own. */
@AutoConfiguration
@ConditionalOnProperty(name = "gameq.enabled", matchIfMissing = true)
@ConditionalOnMissingBean(GameQueue.class)
@EnableConfigurationProperties(GameQueueProperties.class)
public class GameQueueAutoConfiguration {
  /** Made by Spring. */
  public GameQueueAutoConfiguration() {}

  @Bean
  QueueOfContext gameQueueOfContext() {
    return new QueueOfContext();
  }

  /** What beans are given; the lifecycle closes what is behind it. */
  @Bean(destroyMethod = "")
  GameQueue gameQueue(QueueOfContext queue) {
    return queue.bean;
  }

  @Bean
  GameQueueLifecycle gameQueueLifecycle(
      GameQueueProperties properties,
      QueueOfContext queue,
      ObjectProvider<GameQueueConfigCustomizer> customizers,
      ObjectProvider<GameQueueListener> listeners) {
    return new GameQueueLifecycle(
        () -> {
          GameQueueConfigBuilder settings = properties.settings();
          customizers.orderedStream().forEach(customizer -> customizer.customize(settings));
          return settings.build();
        },
        new GameQueueLifecycle.Patience(
            properties.failFast(), properties.retryEvery(), properties.drainTimeout()),
        queue,
        listeners.orderedStream().toList());
  }
}
