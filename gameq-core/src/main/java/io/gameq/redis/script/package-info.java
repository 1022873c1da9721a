/**
 * gameq's Lua scripts, each named above the method that runs it, and plain commands on the same
 * keys, which {@link io.gameq.redis} draws. Internal.
 *
 * <p>A script is a resource file. Its first lines are its contract: what it is for, its KEYS, its
 * ARGV, and every value that it returns. {@code slot.lua} is put in front of each, {@code
 * claims.lua} in front of those that end claims, {@code inbox.lua} in front of those that meet
 * inboxes, {@code topic.lua} in front of those of topics, and {@code batches.lua} in front of those
 * that commit messages.
 *
 * <pre>
 * SessionScripts  open, reassert, healed, close: which session owns;
 *                 RowNotices: sent: what a node's sessions are to be told of
 * CommitGroup     many commits at once: CommitsInMulti; or by CommitScript and MessagesScript
 * CommitScript    commit: one of several sessions, with messages or rows for others, or again
 * MessagesScript  messages: many commits of messages and no rows
 * JournalMarks    marks: how far into a WAL Redis holds the slots; SlotMarks: what is expected
 * LookupScript    read, pending, lookup: what is not flushed; ReplayScript: replay
 * ClaimScript     claim, renew, ack, nack, reap: what writers do
 * SlotBacklog         waiting: how much waits; WaitingOwners: who; rows
 *                 BacklogScript: backlog, publish: the look that somebody published
 * NodeSigns       beat, unbroken: which nodes are alive; OpenOwners: where an owner is open
 *                 ProcessSigns: sign, signs: what processes say of themselves
 * </pre>
 */
@org.jspecify.annotations.NullMarked
package io.gameq.redis.script;
