/**
 * What operators paused: nothing of it is claimed, or written, until they resume it.
 *
 * <pre>
 * PauseCommand, ResumeCommand   what an operator calls
 *   Pausing                     does it, for the console too: audited, then gameq_pause (mysql)
 * PauseWatch                    in a writer: reads gameq_pause once a second
 *   Pauses                      what is paused now
 *
 * paused      is left alone by                        until it is resumed
 * all         every writer's flush.SlotSchedule       nothing is claimed
 * slot N      the same                                nothing of that slot is claimed
 * writer W    the same, of that writer                it is quiet: it claims nothing
 * table T     every writer's turn.RowDecoder          its rows stay in Redis, others go on
 * </pre>
 *
 * <p>{@code flush} has what waits written at once instead of at the end of its merge window.
 *
 * <pre>
 * FlushCommand     one owner, some, or all; waits for it, and tells why it is not written
 *   FlushNow       makes them due, for the console too, and tells what is left
 * </pre>
 *
 * <p>What counts for a flush is a row's version: rows committed until a second after it was asked
 * for. So it ends in a game that goes on.
 *
 * <p>What is claimed when a pause comes is finished. Leases that ran out are taken back all the
 * while: that writes nothing.
 */
@org.jspecify.annotations.NullMarked
package io.gameq.writer.pause;
