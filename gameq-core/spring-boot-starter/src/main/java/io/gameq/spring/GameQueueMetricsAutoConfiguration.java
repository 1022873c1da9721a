package io.gameq.spring;

import io.gameq.metrics.GameQueueMetrics;
import io.micrometer.core.instrument.MeterRegistry;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.context.annotation.Bean;

/** The meters of the queue in the application's registry, where it has one. */
@AutoConfiguration(
    after = GameQueueAutoConfiguration.class,
    afterName = {
      "org.springframework.boot.actuate.autoconfigure.metrics"
          + ".CompositeMeterRegistryAutoConfiguration",
      "org.springframework.boot.micrometer.metrics.autoconfigure"
          + ".CompositeMeterRegistryAutoConfiguration"
    })
@ConditionalOnClass(MeterRegistry.class)
@ConditionalOnBean({MeterRegistry.class, QueueOfContext.class})
public class GameQueueMetricsAutoConfiguration {
  /** Made by Spring. */
  public GameQueueMetricsAutoConfiguration() {}

  @Bean
  GameQueueListener gameQueueMeters(MeterRegistry registry) {
    return queue -> new GameQueueMetrics(queue).bindTo(registry);
  }
}
