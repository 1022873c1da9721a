/**
 * What waits in Redis, and what a node does when it is too much. Internal.
 *
 * <pre>
 * Backlog           one look at all slots, at the server's memory, and at topics (TopicBacklog)
 *   BacklogSummary  what a node needs of it
 *   BacklogText     both as text, as they are published
 * SharedSnapshot        one look for all processes of a namespace
 *   SharedBacklog   at the backlog, every five seconds
 * NodePressure      which thresholds are passed: tells the game, slows or refuses its commits
 * </pre>
 *
 * <p>A look costs some 20 microseconds of Redis for each slot, and six short commands for each slot
 * of each topic, whatever waits. The latest one is in {@code ns:backlog}; whoever finds it old
 * looks and publishes, so that many processes cost one look, and each of them a short call a
 * second. Nodes ask where a threshold is set, and look themselves when no writer did.
 */
@NullMarked
package io.gameq.backlog;

import org.jspecify.annotations.NullMarked;
