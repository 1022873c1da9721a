/**
 * gameq in Spring Boot: a {@code GameQueue} to inject, open from the start of the context to its
 * stop.
 *
 * <pre>
 * GameQueueProperties               what stands under gameq in application.yaml
 * GameQueueConfigCustomizer         for what has no property
 * GameQueueAutoConfiguration
 *   GameQueueLifecycle              opens; drains and closes; tries again where told to
 *     QueueOfContext                the bean: the queue that is open now
 *     GameQueueListener             told when it is open
 *   GameQueueMetricsAutoConfiguration         its meters, where Micrometer is
 *   GameQueueActuatorHealthAutoConfiguration  health, up to Spring Boot 3
 *   GameQueueHealthAutoConfiguration          health, from Spring Boot 4 on
 *     NodeHealth                              what both say
 * </pre>
 */
@NullMarked
package io.gameq.spring;

import org.jspecify.annotations.NullMarked;
