/**
 * Meters of a game node for Micrometer, which a game brings along if it wants them: the only
 * package of gameq-core that touches it. Nothing else of gameq needs it.
 *
 * <pre>
 * new GameQueueMetrics(queue).bindTo(registry)     all meters; the README has their table
 *   CommitTimers                                   is told how long commits take
 * </pre>
 */
@org.jspecify.annotations.NullMarked
package io.gameq.metrics;
