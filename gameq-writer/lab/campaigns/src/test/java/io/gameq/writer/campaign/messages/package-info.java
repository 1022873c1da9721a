/**
 * Messages in the campaigns: what nodes publish and handle, and whether topics kept their promises.
 *
 * <pre>
 * campaign.CampaignNode   has of each one
 *   MessagePlayer           publishes alone, several together, with rows, merged, in groups;
 *                           deletes
 *   ErrandHandler           handles what any node published, as each {@link
 *                           io.gameq.writer.campaign.messages.Errand.Kind} says;
 *                           of owners: by the sessions of those that the node plays, with rows,
 *                           and at the first node by opening who is open nowhere
 *   MessageNotes            what both do, a line each that survives kill -9
 * MessageHistory            the notes of all nodes: Published, Handled
 * MessageChecker            each message and each commit; LaneChecks: each key and group
 *   Trouble                 what the case did, as far as it excuses anything
 *   MessageOutcome          a line of the report
 * </pre>
 *
 * <p><b>Twice</b> a message may be handled when a lease ran out: its handler died, stalled, or
 * could not acknowledge in time. A handler notes when it returned and when its lease ends; one that
 * returned well before that, while nothing was amiss, must not be followed by another. Of a Redis
 * that forgot only this is excused: it had not answered the acknowledgement, and forgot the publish
 * as well. What it had answered is put back before anybody takes; only what a node knows that was
 * killed or stopped itself meanwhile comes late. A handler whose commit of rows was refused is
 * counted as well: its message is tried again.
 *
 * <p><b>Rows.</b> Each run of a handler that acknowledges with rows puts a row of its own, so that
 * two which took effect are two rows. A row that was committed together with a publish holds the
 * message's id: one is there if and only if the other was handled; but for rows that a failover
 * lost with their session and that were reported.
 *
 * <p><b>Time.</b> All are those of the host's monotonic clock. The moment of a take lies between
 * that at which the node asked, which follows from what is left of the lease, and that at which the
 * handler began; checks use whichever is the safe one. A handler that stalled before it began does
 * not know when it asked, and is left out where that counts.
 *
 * <p><b>Redis' clock</b> ends leases and delays. When it goes ahead while a handler runs, another
 * may run beside it; when it does while a message waits, the message comes early, and so does what
 * a node publishes before it knows. The rows of one handler count all the same.
 */
@org.jspecify.annotations.NullMarked
package io.gameq.writer.campaign.messages;
