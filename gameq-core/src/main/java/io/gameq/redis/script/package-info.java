/**
 * All of gameq's Lua scripts, one class each, and the plain commands that belong to the same keys,
 * which {@link io.gameq.redis} draws. Internal.
 *
 * <p>A script is a resource file beside its class; its first lines say what it is for, its KEYS
 * with their types, its ARGV with their units, and every value that it returns. {@code slot.lua} is
 * put in front of each, {@code claims.lua} in front of those that end claims, {@code inbox.lua} in
 * front of those that meet inboxes, {@code ailments.lua} in front of the doctor's, {@code
 * topic.lua} in front of those of topics, and {@code batches.lua} of those that commit messages.
 * The class binds KEYS and ARGV in order and makes a value of the reply; it decides nothing.
 *
 * <pre>
 * a session      open.lua      OpenScript      may write from now on, adopts; what is unflushed?
 *                reassert.lua  ReassertScript  Redis lost it, MySQL says that it owns
 *                healed.lua    HealedScript    what Redis lost of it is there again
 *                pending.lua   PendingScript   does anything of it wait?
 *                close.lua     CloseScript     ends it
 *                              OwnKey          GET own; was it closed?
 *                              DueSessions     makes what it has dirty due now
 * commits        MULTI         CommitGroup     many commits at once, the usual way
 *                commit.lua    CommitScript    one: of several sessions, with messages or rows for
 *                                              others, or again
 *                messages.lua  MessagesScript  many that change messages and no rows
 *                              MessageCommit   what one changes; MessageBatches sorts it by kind
 *                              LostRows        rows that Redis lost, by commit.lua
 *                replay.lua    ReplayScript    rows of nodes that are gone, from their WALs
 *                              JournalMarks    how far into a WAL Redis holds the slots; SlotMarks:
 *                                              what a node's calls expect of them
 * readers        read.lua      ReadScript      what of an owner is unflushed, without a session
 *                look.lua      LookScript      versions of some rows; may more come?
 *                lookup.lua    LookupScript    some rows, of several sessions
 *                rows.lua      RowsScript      rows of one table that wait
 *                sent.lua      RowsToTell      what a node's sessions are to be told of
 * writers                      SlotHeads       in which slots is somebody due?
 *                claim.lua     ClaimScript     takes due owners: Claims
 *                renew.lua     RenewScript     goes on holding them
 *                ack.lua       AckScript       they are in MySQL: tells their nodes
 *                nack.lua      NackScript      gives them back
 *                reap.lua      ReapScript      takes back what a writer let run out
 * operators      waiting.lua   WaitingScript   how much waits: Waiting
 *                              WaitingOwners   who waits in a slot
 *                unwritten.lua UnwrittenScript which of them have rows of before a time: Unwritten
 *                trace.lua     TraceScript     where one owner is: OwnerInRedis
 *                doctor.lua    DoctorScript    what does not fit together: Symptoms of Things
 *                mend.lua      MendScript      mends one
 *                              SlotContents    all Things there are, page by page
 *                              SlotSurvey      what is left in slots, whatever their number
 *                backlog.lua   BacklogScript   the look that somebody published; publish.lua
 *                              StaleRows       what sessions committed after they were lost
 *                discard.lua   DiscardScript   removes it
 * signs of life  beat.lua      BeatScript      a node is alive
 *                unbroken.lua  UnbrokenScript  for how long such signs came
 *                              NodeHeartbeat   gives them; NodeSigns, OpenOwners read them
 *                sign.lua      SignScript      a process says how it is
 *                              ProcessSigns    gives and reads that: ProcessSign
 *
 * LuaScript      a script by its SHA-1, loaded again where Redis forgot it
 * ScriptPipeline sends many calls at once
 * </pre>
 */
@org.jspecify.annotations.NullMarked
package io.gameq.redis.script;
