/**
 * {@code gameq-writer stale list|show|discard}: rows that sessions committed after they had lost
 * ownership, which no writer flushes. What they ask Redis is in {@link io.gameq.redis.script}.
 *
 * <pre>
 * StaleCommand            the parent of the three
 *   StaleListCommand      sessions with stale rows
 *   StaleShowCommand      the rows of an owner, column by column
 *   StaleDiscardCommand   removes them; MySQL remembers that
 *     StaleSessions       what they do, for the console as well
 *     StaleNames          how all of them open Redis, and name what they find
 * </pre>
 */
@org.jspecify.annotations.NullMarked
package io.gameq.writer.stale;
