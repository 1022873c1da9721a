/**
 * gameq's own tables that change with the rows, one class each, and what reads them together with
 * the game's. Statements on the game's tables are in {@link io.gameq.mysql.flush}, which tables
 * there are in {@link io.gameq.mysql}. Internal.
 *
 * <pre>
 * OwnerTable         gameq_owner        sessions: raise, several together, set open, lock, restore
 * TermTable          gameq_redis_term   which Redis primary counts
 * IdTable            gameq_id           ids for new rows, in ranges
 * TopicTable         gameq_topic        topics: what they are, paused, limited
 * HandoverTable      gameq_handover     what a session knows of a move that waits
 * TombstoneTable     gameq_tombstone    the version of a delete: nothing older comes back
 * DiscardTable       gameq_discard      versions that an operator gave up
 * HandledTable       gameq_handled      whose rows count of a message that was handled with rows
 * DeadLetterTable    gameq_dead_letter  rows that MySQL refused, the newest of each row
 *   RowVersions        the versions of these three, by row key
 * NodeTable          gameq_node         nodes that were started and not closed in order
 * AuditTable         gameq_audit        what operators did
 *
 * DurableRows        what a replay asks of rows and owners
 * OwnerReader        what MySQL holds of owners and rows: those of several owners in one snapshot
 * TombstoneHorizon   before it tombstones may be purged: nothing older is replayed
 * Locks              a lock on a row, or on the whole table?
 * </pre>
 */
@org.jspecify.annotations.NullMarked
package io.gameq.mysql.tables;
