/**
 * All of gameq's Lua scripts, each beside the method that runs it, and the plain commands that
 * belong to the same keys, which {@link io.gameq.redis} draws. Internal.
 *
 * <p>A script is a resource file; its first lines say what it is for, its KEYS with their types,
 * its ARGV with their units, and every value that it returns. {@code slot.lua} is put in front of
 * each, {@code claims.lua} in front of those that end claims, {@code inbox.lua} in front of those
 * that meet inboxes, {@code ailments.lua} in front of the doctor's, {@code topic.lua} in front of
 * those of topics, and {@code batches.lua} of those that commit messages. The method binds KEYS and
 * ARGV in order and makes a value of the reply; it decides nothing.
 *
 * <pre>
 * a session      open.lua      OpenScript      may write from now on, adopts; what is unflushed?
 *                reassert.lua  OwnKey          Redis lost it, MySQL says that it owns
 *                healed.lua    OwnKey          what Redis lost of it is there again
 *                close.lua     OwnKey          ends it; GET own; was it closed?
 *                              DueSessions     makes what it has dirty due now
 * commits        MULTI         CommitGroup     many commits at once, the usual way: CommitsInMulti
 *                commit.lua    CommitScript    one: of several sessions, with messages or rows for
 *                                              others, or again; puts rows back that Redis lost
 *                messages.lua  MessagesScript  many of messages and no rows, sorted by kind
 *                replay.lua    ReplayScript    rows of nodes that are gone, from their WALs
 *                marks.lua     JournalMarks    how far into a WAL Redis holds the slots; SlotMarks:
 *                                              what a node's calls expect of them
 * readers        read.lua      LookupScript    what of an owner is unflushed, without a session
 *                pending.lua   LookupScript    does anything of a session wait?
 *                look.lua      LookupScript    versions of some rows; may more come?
 *                lookup.lua    LookupScript    some rows, of several sessions
 *                sent.lua      RowsToTell      what a node's sessions are to be told of
 * writers                      DueSessions     in which slots is somebody due?
 *                claim.lua     ClaimScript     takes due owners: Claims
 *                renew.lua                     goes on holding them
 *                ack.lua                       they are in MySQL: tells their nodes
 *                nack.lua                      gives them back
 *                reap.lua                      takes back what a writer let run out
 *                handled.lua   StaleRows       what a session that was lost tells of messages
 *                park.lua                      sets aside what it had not flushed
 * operators      waiting.lua   Waiting         how much waits
 *                rows.lua      WaitingOwners   who waits in a slot; their rows of one table
 *                firsts.lua    DueSessions     what there is to do in each slot
 *                unwritten.lua WaitingOwners   which of them have rows of before a time
 *                trace.lua     OwnerInRedis    where one owner is
 *                doctor.lua    Symptom         what does not fit together; of Things
 *                mend.lua      Symptom         mends one
 *                              SlotContents    all Things there are, page by page
 *                              SlotSurvey      what is left in slots, whatever their number
 *                backlog.lua   BacklogScript   the look that somebody published; publish.lua
 *                stale.lua     StaleRows       what was parked, page by page
 *                discard.lua   StaleRows       removes it
 * signs of life  beat.lua      NodeHeartbeat   a node is alive
 *                unbroken.lua  NodeSigns       which nodes are, and for how long such signs came;
 *                                              OpenOwners: where an owner is open, by these
 *                sign.lua      ProcessSigns    a process says how it is; signs.lua: all that did
 *
 * LuaScript      a script by its SHA-1, loaded again where Redis forgot it
 * </pre>
 */
@org.jspecify.annotations.NullMarked
package io.gameq.redis.script;
