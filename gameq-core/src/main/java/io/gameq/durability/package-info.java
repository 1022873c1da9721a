/**
 * What is on its way to MySQL, and who is told when it is there.
 *
 * <pre>
 * NodeSessions           the sessions of this node of which something may not be in MySQL
 *   DurableTracker       one session: its rows from submit to MySQL, under one lock
 *     RowsInTransit      not answered by Redis; the room that they take
 *     WaitingRows        given to Redis, and not known to be in MySQL
 *       QueuedRows         a notice of their version settles them
 *       OvertakenRows      in Redis, or lost there: no notice tells of them, MySQL is asked
 *       UnheldRows         seen in neither Redis nor MySQL, since when
 *     InheritedRows      adopted by a later session of this node
 *     SentToSession      rows that others sent to its owner
 *     DurableTimes       how long its commits take
 *     DurableFutures     what the game asked for
 *       GoneRows           rows that never get to MySQL
 * TrackedCommit          a commit and its receipt: LazyFuture, durable
 * Callbacks              runs the game's own code, on the game's executor alone
 * PendingHandovers       rows that moved, and are not known to have
 * </pre>
 */
@NullMarked
package io.gameq.durability;

import org.jspecify.annotations.NullMarked;
