/**
 * Puts back what Redis lost: for a node that lives, on every new connection and before anything new
 * is sent; for a node that starts beside WALs which it left; and for {@code gameq-recovery}.
 * Versions are compared row by row wherever something is written.
 *
 * <pre>
 * a node that lives
 *   HealingStep      the steps: note what is lost, read the sessions in MySQL, tell Redis of them,
 *                    replay the WAL, say that all is there, send commits again without an answer
 *   HealingPorts     what the steps reach: HeldSessions of the node, RecordsToReplay, ReplaySource
 *
 * a WAL whose node is gone: LeftWalReplay at its start, and the tool
 *   Planner          folds WALs to the newest change of each row, and tells what became of it:
 *                    RowLookup asks Redis and MySQL, and whether the row may be put back
 *   WalReplay        puts back what is lost, into a ReplayTarget (RedisTarget)
 *   Lookups          the servers; WalFolder: a WAL
 *
 * all of them
 *   DurableTruth     who owns by MySQL; whether half of a trade may be put back
 *   MessageReplay    messages that the marks do not prove, after the rows
 * </pre>
 *
 * <p>Marks tell a node that lives where to begin; what is put back of a WAL that was left is told
 * by versions alone, since MySQL may have lost commits too. A healing that is cut short anywhere
 * begins anew: what was owed stays owed, and the marks are written when all is there.
 */
@org.jspecify.annotations.NullMarked
package io.gameq.healing;
