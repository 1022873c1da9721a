/**
 * What a node puts back after Redis lost it: on every new connection, before anything new is sent.
 *
 * <pre>
 * HealingStep       the steps: note what is lost, read the sessions in MySQL, tell Redis of them,
 *                   replay the WAL, say that all is there, send commits again without an answer
 * HealingPorts      what the steps reach: a sender's (commit), or that of a node that is gone
 *   HeldSessions      the node's sessions; SessionOwnership: whether they own
 *   RecordsToReplay   what is owed, whoever begins again
 *   ReplaySource      the WAL: WalFiles over WalPlaces
 *   UnansweredCommits what is sent again: CommitResending
 *   DurableTruth      what MySQL says: DurableSessions, and LostHalves of trades
 * ReplayPass        reads records and sends them by a ReplayPipeline; NotReplayed is left
 *   TradeDecision     of trades of which one half is of a lost session
 * MessageReplay     puts messages back that the marks do not prove: MessageRecords of the WAL
 * LeftWalReplay     the same for a node that is gone: LeftRecords of its WAL, LeftWalPorts
 * </pre>
 *
 * <p>A healing that is cut short anywhere begins anew: every script compares versions and sessions,
 * what was owed stays owed, and the marks are written when all is there. A process that dies leaves
 * its WAL to its next start, or to {@code gameq-recovery}.
 */
@org.jspecify.annotations.NullMarked
package io.gameq.healing;
