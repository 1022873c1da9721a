/**
 * Carries the commits of a node to Redis.
 *
 * <pre>
 * CommitSender      what other threads call, and the loop: version, WAL, group, send, settle,
 *                   recover
 *   CommitQueue     commits, as far as there is room, and tasks, which wait for the sender
 *   SenderThread    what the loop runs on, or the event loop of the connection
 *   SenderSessions  the sessions whose commits are sent, and groups under their keys
 *   SenderLink      makes connections
 *   SenderHealing   takes each healing.HealingStep after a reconnect
 *   Settlement      ends a commit: frees its room, marks a failure in the WAL, then tells the game
 * MessageCommits    commits of messages
 * RecentMessages    which WAL records change messages and may be replayed
 * </pre>
 */
@org.jspecify.annotations.NullMarked
package io.gameq.commit;
