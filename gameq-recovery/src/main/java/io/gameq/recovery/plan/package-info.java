/**
 * Finds out what became of the newest change of every row that WALs hold. Changes nothing.
 *
 * <pre>
 * Planner, for each group of owners that fits into memory:
 *   1. reads the WALs: RowIndex, the newest version of each row that was not marked failed;
 *      OwnerIndex, the newest session of each owner
 *   2. reads them again: Classification asks Redis, then MySQL, about a few thousand rows at a time
 *      -&gt; PlannedRow -&gt; PlanTotals, PlanDetails
 *   3. hands the index to whoever replays what is lost, who reads the images a third time
 * </pre>
 *
 * Redis first: what it no longer had was in MySQL by then. Memory holds hashes and versions, never
 * all rows.
 */
@org.jspecify.annotations.NullMarked
package io.gameq.recovery.plan;
