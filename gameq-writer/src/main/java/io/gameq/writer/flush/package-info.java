/**
 * The threads that flush, and the steps of their turns. A {@link io.gameq.writer.flush.SlotTurn}
 * decides what follows what; a {@link io.gameq.writer.flush.Stage} is where it stands. Workers, the
 * slow lane and the explorer, which tries every interleaving, take the very same steps.
 *
 * <pre>
 * SlotWatch     asks Redis in which slots somebody is due
 * SlotSchedule  which slots are next, together; one worker at a time has a slot, and one its urgent
 *   FlushPace   how much at a time: FlushLimits, by how long MySQL takes, whatever FlushCost says
 *               it takes without rows; RowBudget: under a ceiling
 *   Worker      takes their turn, step by step
 *     SlowLane  who held up others waits here for SlowWorker: small groups, in the end one owner
 * LeaseRenewal  holds on to what they have claimed
 * TermWatch     which Redis primary counts; workers and lane leave one that does not
 * FlushBlockers what keeps rows in Redis: an outage of MySQL, parked tables, owners, pauses
 *
 * stage             server   then
 * Reap              Redis    itself while there is more; End
 * ClaimDue          Redis    GiveBack who is to be left alone; Decode; FindUnowned; ParkStale
 * Decode            (MySQL)  Flush
 * Flush             MySQL
 *   committed                Acknowledge; GiveBack who was refused or held back; then
 *                            FindLostSessions, or FenceSession of a message's second handler
 *   a table, an owner or a connection failed
 *                            Decode, up to three times; before it RereadTable, GiveBack
 *   one owner may be why     the slow lane takes them; alone: RereadCatalog, GiveUp
 *   an outage                GiveBack
 *   the primary was demoted  Leave
 * RereadTable       MySQL    the next try
 * RereadCatalog     MySQL    GiveBack
 * GiveUp            MySQL    Flush: dead letters
 * FindLostSessions  MySQL    RestoreSession of what MySQL lost; FindOpenings
 * FindOpenings      MySQL    ReassertSession, or FinishOpen
 * FindUnowned       MySQL    ReassertSession, or FinishOpen
 * ReassertSession   Redis    FinishOpen where it was refused
 * </pre>
 */
@org.jspecify.annotations.NullMarked
package io.gameq.writer.flush;
