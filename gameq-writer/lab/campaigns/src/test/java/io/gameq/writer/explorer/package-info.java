/**
 * The explorer: every interleaving of small casts, run step by step on the real Redis and the real
 * MySQL with the real scripts and statements. What {@code check_protocol.py} does to the model of
 * the protocol, this does to the code.
 *
 * <pre>
 * a state      what Redis holds (without times) + what MySQL has committed + what each actor
 *              remembers
 * a step       restore the state on the servers, run ONE atomic step of one actor's real code, look
 *              again
 * a search     depth first from a start, every step of every actor in every state; a state seen
 *              before is not explored again, and the schedules through it are counted: complete
 *              paths, without loops
 *
 * actor            its atomic steps, and the classes that they run
 * GameNodeActor    starts: reads the term, connects | settles the term (tables.TermTable,
 *                  Terms)
 *                  open: epoch into MySQL | open.lua; refused: ask MySQL; lost since an attempt
 *                  before: put back | set open and read, in one transaction | GET own, where Redis
 *                  may fail over: else it opens again (node.OpenState, the whole of it)
 *                  commit: one MULTI, or commit.lua; its request or its reply may be lost
 *                  (script.CommitGroup)
 *                  heal: read the journal mark | sessions in MySQL | reassert.lua for each | replay
 *                  a WAL record | healed.lua | send an unanswered commit again; refused: ask MySQL,
 *                  reassert (healing.HealingStep, the whole of it, one element a step)
 *                  send: commit.lua into the inbox of a player, whoever has it | be told of what
 *                  was sent (script.RowNotices, retold)
 *                  may give an open up and open again, or die in it
 *                  goes over to the primary that was promoted, and heals there (Terms)
 * FlushWorker      the steps of a writer's turn: claim | flush, stopped at its statements | ack |
 *                  nack | ask MySQL who owns | tell Redis; goes over, or has to when the term
 *                  refuses it (io.gameq.writer.turn, the whole of it; Terms)
 * Reaper           a lease runs out: the first step of a turn (Reaping)
 * ReadingActor     read.lua | snapshot (script.LookupScript, view.OwnerViews)
 * FailoverActor    Redis goes back to what it was before its newest writes, or comes back empty;
 *                  every connection of a node breaks
 * Promotion        a replica is promoted: two primaries from then on
 * </pre>
 *
 * <p>Time is left out: whatever may become due, run out or be long past has done so, and which of
 * two due owners is first is a choice like any other. A worker that stalls takes no step for a
 * while; a worker that is killed takes none any more.
 *
 * <p>A failover is two choices: at some moment a replica falls behind, and some writes later it is
 * what Redis holds. A node heals whenever its connection broke; a failover in the middle of that
 * begins it again. The notices of an ack are those that ack.lua publishes, and each may be lost.
 *
 * <p>With two primaries a state has what both hold. Each node and worker, and each attempt to open,
 * is on one of them; its steps meet what that one holds. A node or a worker that is on the former
 * one works on until it goes over, which it may do at any moment, a worker between two turns: it
 * settles the term, and a node heals. Writes that the replica has not got are those that come after
 * the promotion while nobody has gone over. In the end everybody has, and what the former one holds
 * is gone. {@link io.gameq.redis.PrimaryConnector} is retold: what the servers say of themselves is
 * made up.
 *
 * <p>A flush is one step of the turn, one call of {@link io.gameq.mysql.flush.FlushTransaction}. It
 * runs in a thread of its own, and a {@link io.gameq.writer.explorer.Gate} holds it before each
 * statement; some casts interleave every statement, others only before, between and after locking
 * and COMMIT. An open transaction is restored by running its statements again, in the order in
 * which those of all transactions ran, each over what was committed then; the server must answer
 * the same. A step that would wait for a lock is not taken; a flush that waits may also roll back
 * and begin again.
 *
 * <p>Checked after each step: a row's version in MySQL never goes down (WENT BACK), a deleted row
 * does not come back (RESURRECTED), a row holds what was committed in its version (MIXED) and was
 * not refused (NEVER ACKED), a reader sees what was acknowledged before it began and never less
 * than before, after a failover once the node healed, a moving item is seen with exactly one owner
 * (DUPLICATE, DESTROYED), a session is lost only to a later one that Redis was told of by its own
 * node (DETHRONED). Wherever only workers are left with something to do, they are killed, a healthy
 * one drains, and each node looks for what it was not told of, which it replays where its session
 * owns and else reports as a conflict; then nothing acknowledged is missing and unreported (LOST),
 * the session that owns believes what MySQL holds (OWNER VIEW), and nothing waits for ever
 * (STRANDED); nothing is reported as lost that MySQL holds (REPORTED), and no move is refused
 * unless Redis lost a half of it (REFUSED), a commit of own changes and of rows that were sent is
 * there whole or not at all (HALF), and a session knows of each row that was sent to its owner, or
 * is still to be told (OWNER VIEW). A row that waits for the flush of the other owner is given back
 * until the last drain, which sets it aside.
 *
 * <p>{@link io.gameq.writer.explorer.PlantedVariants} takes one rule out at a time, by editing the
 * text of a script or a statement on its way to the server, or by a switch of an actor where the
 * rule is an order of calls. A violation must be found for each; an edit that matches nothing
 * fails, so that the plants follow the code.
 *
 * <p>Not explored: a Redis that loses writes while connections last; of two primaries a node that
 * comes back to the former one, a third one, Sentinel's word, a primary of which nothing was heard
 * for long, a flush that waits for its owner's lock after it read the term; a MySQL that fails
 * over, rows that MySQL refuses, sessions that close; of a session that is lost while Redis forgets
 * what it committed together with rows that it sent, what becomes of these.
 *
 * <pre>
 * -Dgameq.explorer=full         bigger casts
 * -Dgameq.explorer.cast=delete  only casts that are called so
 * -Dgameq.explorer.rule=open    only planted variants whose rule is called so
 * -Dgameq.explorer.paths=true   prints the path to each planted violation
 * </pre>
 */
@org.jspecify.annotations.NullMarked
package io.gameq.writer.explorer;
