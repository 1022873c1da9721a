/**
 * The guarded transaction, by which every row comes into MySQL: an older version never replaces a
 * newer one, a deleted row stays deleted, and only a session that counts writes. Internal.
 *
 * <pre>
 * FlushTransaction     what the writer flushes: outcomes, how long rows are given time
 *   FlushPlan          what the next try of a flush leaves out, and in what statements
 *   MassRefusals       tells a table that refuses most rows from single bad rows
 * GuardedTransaction   lock, compare, write, set aside, commit; roll back and try again;
 *                      also for retries of dead letters and for replay into MySQL
 * GuardedWrites        the rows of one transaction, in turns: parents before children, again as
 *                      long as that helps, circles of references, deletes with tombstones
 *   RowOwnership       whose row it is, by handovers: the rules are in the package above
 *   GuardedPuts        upserts (UpsertSql), and what had been deleted taken out
 *     ExchangedValues  unique values that are taken off for a moment
 *   RowBisection       halves of a refused statement, down to its rows
 * </pre>
 */
@org.jspecify.annotations.NullMarked
package io.gameq.mysql.flush;
