package io.gameq.spring;

import org.springframework.boot.actuate.health.Health;
import org.springframework.boot.actuate.health.HealthIndicator;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.context.annotation.Bean;

/** The health of the queue for Actuator, up to Spring Boot 3. */
@AutoConfiguration(after = GameQueueAutoConfiguration.class)
@ConditionalOnClass(HealthIndicator.class)
@ConditionalOnBean(QueueOfContext.class)
public class GameQueueActuatorHealthAutoConfiguration {
  /** Made by Spring. */
  public GameQueueActuatorHealthAutoConfiguration() {}

  @Bean
  HealthIndicator gameQueueHealthIndicator(QueueOfContext queue) {
    return () -> {
      NodeHealth health = NodeHealth.of(queue);
      return (health.up() ? Health.up() : Health.down()).withDetails(health.details()).build();
    };
  }
}
