/**
 * The writer's scripts: claim, ack, nack, reap, stale. Keys are drawn in {@link io.gameq.redis}.
 */
@org.jspecify.annotations.NullMarked
package io.gameq.writer.redis;
