/**
 * What is on its way to MySQL, and who is told when it is there.
 *
 * <pre>
 * NodeSessions           the sessions of this node of which something may not be in MySQL
 *   DurableTracker       one session: its rows from submit to MySQL, under one lock
 *     DurableFutures     what the game asked for, and rows that never get to MySQL
 *     SentToSession      rows that others sent to its owner
 * TrackedCommit          a commit and its receipt
 * Callbacks              runs the game's own code, on the game's executor alone
 * PendingHandovers       rows that moved, and are not known to have
 * </pre>
 */
@NullMarked
package io.gameq.durability;

import org.jspecify.annotations.NullMarked;
