/**
 * What writers and operators ask Redis and nodes do not, by the scripts beside these classes.
 * Internal.
 *
 * <pre>
 * DueSlots         firsts.lua       what there is to do in each slot
 * UnwrittenOwners  unwritten.lua    who has rows of before a time
 * UnusedOwners     unused.lua       of whom it holds nothing, so that MySQL may forget them
 * RedisOwner       trace.lua        where one owner is
 * OwnerMessages                     the messages of an owner, of all topics
 * StaleRows        handled.lua      what a session that lost its owner tells of messages
 *                  park.lua         sets aside what it had not flushed
 *                  stale.lua        what was parked, page by page
 *                  discard.lua      removes it
 * Finding          doctor.lua       an entry that contradicts others
 *                  mend.lua         repairs one
 * SlotContents                      all entries, page by page
 *   SlotSurvey                      what is left in slots, whatever their number
 * </pre>
 */
@org.jspecify.annotations.NullMarked
package io.gameq.writer.redis;
