/**
 * What operators paused: nothing of it is claimed, or written, until they resume it.
 *
 * <pre>
 * Pauses.PauseTarget            pauses and resumes: audited, then gameq_pause (mysql)
 * PauseWatch                    in a writer: reads gameq_pause once a second
 *   Pauses                      what is paused now
 * ResumedTables                 makes due what waited for a paused table
 *
 * paused      is left alone by                        until it is resumed
 * all         every writer's flush.SlotSchedule       nothing is claimed
 * slot N      the same                                nothing of that slot is claimed
 * writer W    the same, of that writer                it is quiet: it claims nothing
 * table T     every writer's flush.RowDecoder         its rows stay in Redis, others go on
 * </pre>
 *
 * <p>What is claimed when a pause comes is finished. Leases that ran out are taken back all the
 * while: that writes nothing.
 */
@org.jspecify.annotations.NullMarked
package io.gameq.writer.pause;
