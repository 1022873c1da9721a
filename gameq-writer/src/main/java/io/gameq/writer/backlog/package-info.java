/**
 * What waits in Redis, as operators see it: at a cost that grows with the number of slots, not with
 * what waits.
 *
 * <pre>
 * Backlog         one look at all slots and at the server's memory
 * BacklogWatch    looks every few seconds, and shows the latest look as meters
 * </pre>
 */
@org.jspecify.annotations.NullMarked
package io.gameq.writer.backlog;
