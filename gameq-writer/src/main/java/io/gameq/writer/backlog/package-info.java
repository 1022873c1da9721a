/**
 * What waits in Redis, as operators see it: at a cost that grows with the number of slots, not with
 * what waits.
 *
 * <pre>
 * BacklogWatch    shows the latest look as meters; nodes and writers share it, by io.gameq.backlog
 * </pre>
 */
@org.jspecify.annotations.NullMarked
package io.gameq.writer.backlog;
