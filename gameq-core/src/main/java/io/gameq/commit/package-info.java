/**
 * Carries the commits of a node to Redis.
 *
 * <pre>
 * CommitSender     what the game's and the node's threads call
 *   WaitingCommits   room for a commit, or a refusal
 *   SenderTasks      questions of other threads, answered between two groups
 * SenderLoop       the work, over and over, on one thread at a time: SenderThread
 *   SendLoop         OutgoingCommits: version, CommitJournal: WAL, group, send, reply
 *     GroupSettlement  what became of each commit: queued, failed, to be sent again
 *   MendLoop         reconnect (SenderLink), hold while Redis is full
 *     SenderHealing    takes each healing.HealingStep; ResentCommits: what becomes of commits
 *                    sent again
 * MessageCommits   commits of messages; RecentMessages: which records have any, SenderMessages:
 *                  which of them a healing owes
 * </pre>
 *
 * <p>A commit goes from WaitingCommits over OutgoingCommits to SentCommits; Settlement ends it: its
 * room is freed, a failure stands in the WAL, and only then the game is told.
 */
@org.jspecify.annotations.NullMarked
package io.gameq.commit;
