package io.gameq.spring;

import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.HealthIndicator;
import org.springframework.context.annotation.Bean;

/** The health of the queue for Actuator, from Spring Boot 4 on. */
@AutoConfiguration(after = GameQueueAutoConfiguration.class)
@ConditionalOnClass(HealthIndicator.class)
@ConditionalOnBean(QueueOfContext.class)
public class GameQueueHealthAutoConfiguration {
  /** Made by Spring. */
  public GameQueueHealthAutoConfiguration() {}

  @Bean
  HealthIndicator gameQueueHealthIndicator(QueueOfContext queue) {
    return () -> {
      NodeHealth health = NodeHealth.of(queue);
      return (health.up() ? Health.up() : Health.down()).withDetails(health.details()).build();
    };
  }
}
