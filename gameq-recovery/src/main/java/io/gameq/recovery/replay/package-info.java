/**
 * Puts lost rows back, as a plan says. Every step may be repeated and stopped anywhere: versions
 * are compared wherever something is written.
 *
 * <pre>
 * PlanReplay, for each group of owners of the plan, for some of its owners at a time:
 *   1. OwnerRows: reads the lost images of these owners again
 *   2. asks MySQL who owns, restores the sessions that MySQL lost
 *   3. RedisTarget: replay.lua, one script for an owner and all who traded with it    or
 *      MySqlTarget: one transaction for some owners
 *    MySqlTarget, at the end: once more what was refused because of another row, which may be
 *      there by now; a table that takes no rows is left out
 * Conflicts: the same for rows that a later session did not see, under a new session of
 *   recovery's own
 * </pre>
 *
 * An owner's lost rows go in one script: between two of them readers would see a state that the
 * owner never had.
 */
@org.jspecify.annotations.NullMarked
package io.gameq.recovery.replay;
