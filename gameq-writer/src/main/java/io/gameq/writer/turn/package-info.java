/**
 * A writer's turn with some slots, as steps: each is an immutable value that does one thing on one
 * server and says where the turn stands then. Workers, the slow lane and the explorer, which tries
 * every interleaving of them, take these very steps.
 *
 * <pre>
 * step              server   does                             then
 * Reaping           Redis    reap.lua                         itself while there is more; Ended
 * Claiming          Redis    claim.lua for each slot          GivingBack who is to be left alone;
 *                                                             Decoding; AskingForUnowned; Parking;
 *                                                             Ended
 * Decoding          (MySQL)  rows of the claims; reads the    Flushing
 *                            catalogue where its own is old
 * Flushing          MySQL    the transaction: one call        AfterFlush decides:
 *   committed                                                   Acknowledging; GivingBack who was
 *                                                               refused or held back; then
 *                                                               AskingForLost, or Fencing of
 *                                                               a message's second handler
 *   a table, an owner, a connection failed                      Decoding, up to three times
 *   one owner may be why                                        the slow lane takes them; alone:
 *                                                               RereadingCatalog, SettingAside
 *   an outage                                                   GivingBack
 *   the primary was demoted                                     Leaving
 * RereadingTable    MySQL    was it altered?                  the next try
 * RereadingCatalog  MySQL    did a column come or go?         GivingBack
 * SettingAside      MySQL    what of it is not there yet?     Flushing: dead letters
 * Acknowledging     Redis    ack.lua for each slot
 * GivingBack        Redis    nack.lua for each slot
 * Leaving           Redis    nack.lua; ends the connection    Ended
 * AskingForLost     MySQL    sessions of who was refused      Restoring what MySQL lost;
 *                                                             AskingForOpening
 * Restoring         MySQL    writes a session again
 * AskingForOpening  MySQL    sessions that are not new        Reasserting, or FinishingOpen
 * AskingForUnowned  MySQL    who owns what Redis forgot       Reasserting, or FinishingOpen
 * Reasserting       Redis    reassert.lua                     FinishingOpen where it was refused
 * FinishingOpen     Redis    open.lua
 * Fencing           Redis    reassert.lua: the session that MySQL ended owns no more
 * Parking           both     rows of a session that owns no more: gives back the messages that it
 *                            handled with them, messages.lua; then park.lua
 * Ended             -
 * </pre>
 *
 * <p>A step carries what comes after it ({@code then}), so that a turn is one value. What all turns
 * of a writer share and learn is its {@link io.gameq.writer.turn.AfterFlush.TurnContext}: whether
 * MySQL takes flushes (OutageGate), which tables wait (ParkedTables), which owners held up others
 * (HeldUpOwners), and what is told (TurnReports).
 */
@org.jspecify.annotations.NullMarked
package io.gameq.writer.turn;
