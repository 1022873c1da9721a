/**
 * The writer's scripts: claim, ack, nack, reap, stale; and what a writer tells Redis of sessions
 * that only MySQL knows. Keys are drawn in {@link io.gameq.redis}.
 */
@org.jspecify.annotations.NullMarked
package io.gameq.writer.flush;
