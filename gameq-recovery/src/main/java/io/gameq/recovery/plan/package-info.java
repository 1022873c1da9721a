/**
 * Finds out what became of the newest change of every row that WALs hold. Changes nothing.
 *
 * <pre>
 * Planner, for each OwnerGroup that fits into memory, by GroupReading:
 *   1. reads the WALs: RowIndex, the newest version of each row that was not marked failed;
 *      OwnerIndex, the newest session of each owner
 *   2. reads them again, GroupPlanning: Classification of a few thousand rows (WalRow) at a time
 *        RedisInquiry       what Redis holds (InRedis)
 *        MySqlInquiry       what MySQL holds (InMySql), and of the owner
 *        RowJudge           what became of the row (Judgement), with Ownership: whose it is now
 *        SentRowsJudge      what was sent stands or falls with what it was committed with
 *        ContentComparison  whether one version has other values somewhere, when verify asks
 *      -&gt; PlannedRow -&gt; PlanTotals, PlanDetails
 *   3. hands the group to whoever replays what is lost, who reads the images a third time
 * </pre>
 *
 * Redis first: what it no longer had was in MySQL by then. Memory holds hashes and versions, never
 * all rows.
 */
@org.jspecify.annotations.NullMarked
package io.gameq.recovery.plan;
