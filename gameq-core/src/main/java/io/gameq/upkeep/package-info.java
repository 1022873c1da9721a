/**
 * What a node looks after in the background, about once a second: the duties that {@link
 * io.gameq.upkeep.NodeUpkeep} lists, on one thread.
 *
 * <pre>
 * UnnoticedRows        asks MySQL about rows of which no notice will tell
 * MissingRows          looks in Redis, then in MySQL, for rows of which no notice came
 *   HealingLimit       how often the sender heals again for them
 * GivenUpRows          reports rows that a healing did not replay
 *   RowSearch          asks both servers for rows of one session
 *   ConflictReports    tells the log, the game and the session what is lost
 * SentRowsTelling      tells sessions of rows that others sent to their owners
 * ClosedSessionNotices  tells Redis which sessions ended
 * RepeatAfterHealing   repeats what a failover may have undone
 * TopicRestore         puts topics back into Redis that it has lost
 * </pre>
 */
@NullMarked
package io.gameq.upkeep;

import org.jspecify.annotations.NullMarked;
