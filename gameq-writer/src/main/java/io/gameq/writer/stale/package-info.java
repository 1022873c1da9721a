/**
 * {@code gameq-writer stale list|show|discard}: rows that sessions committed after they had lost
 * ownership, which no writer flushes. What they ask Redis is in {@link io.gameq.redis.script}.
 */
@org.jspecify.annotations.NullMarked
package io.gameq.writer.stale;
