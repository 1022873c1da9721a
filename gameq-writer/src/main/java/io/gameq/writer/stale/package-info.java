/**
 * {@code gameq-writer stale list|show|discard}: rows that sessions committed after they had lost
 * ownership, which no writer flushes. What they ask Redis is in {@code io.gameq.writer.redis}.
 */
@org.jspecify.annotations.NullMarked
package io.gameq.writer.stale;
