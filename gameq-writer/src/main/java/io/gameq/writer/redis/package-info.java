/**
 * What writers and operators ask Redis and no node does, by scripts beside these classes. Internal.
 *
 * <pre>
 * DueSlots         firsts.lua       what there is to do in each slot
 * UnwrittenOwners  unwritten.lua    who has rows of before a time
 * OwnerInRedis     trace.lua        where one owner is
 * StaleRows        handled.lua      what a session that lost its owner tells of messages
 *                  park.lua         sets aside what it had not flushed
 *                  stale.lua        what was parked, page by page
 *                  discard.lua      removes it
 * Symptom          doctor.lua       what does not fit together
 *                  mend.lua         mends one
 * SlotContents                      all things there are, page by page
 *   SlotSurvey                      what is left in slots, whatever their number
 * </pre>
 */
@org.jspecify.annotations.NullMarked
package io.gameq.writer.redis;
