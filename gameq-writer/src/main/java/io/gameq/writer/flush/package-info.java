/**
 * The threads that flush: they take the steps of a {@linkplain io.gameq.writer.turn turn}.
 *
 * <pre>
 * SlotWatch     asks Redis in which slots somebody is due
 * SlotSchedule  which slots are next, together; one worker at a time has a slot, and one its urgent
 *   FlushPace     how much at a time: FlushLimits, by how long MySQL takes, whatever FlushCost says
 *                 it takes without rows; RowBudget: under a ceiling
 *   Worker      takes their turn by a SlotTurn, step by step; StepTimes measures
 *     SlowLane  the same for who held up others: small groups, in the end each owner alone
 * LeaseRenewal  holds on to what they have claimed
 * TermWatch     which Redis primary counts; workers and lane leave one that does not
 * OtherHalves   may the other half of a handover still come?
 * </pre>
 */
@org.jspecify.annotations.NullMarked
package io.gameq.writer.flush;
