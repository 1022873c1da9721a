/**
 * The SQL of the writer's commands; only {@code mysql} packages touch JDBC. The flush transaction
 * is in {@link io.gameq.mysql.flush}.
 *
 * <pre>
 * schema   SchemaDatabase    the database as these commands see it, and what is amiss in it
 *            MigrationPlan     from SchemaState and the configuration: each MigrationStep in order
 *            TableInspection   why a table cannot be managed, and warnings
 *            TableFix          the statements that end that, or what to do by hand
 *            InvalidValues     values that MySQL took without strict mode
 *            DroppedColumns    gameq_dropped_column: columns that are dropped on purpose
 * letters  DeadLetters       lists, counts, changes, removes; writes rows after all
 *            DeadLetterFilter  which of them an operator means
 * pause    PauseTable        gameq_pause: what operators paused
 * check    WriterRequirements  what a running writer needs of a database
 * purge    OldOwners         owners that were not opened for long, and go
 * trace    MySqlOwner        what gameq's own tables say of an owner
 * rows     StoredRowDecoder  decodes dead letters and stale rows, and reads what MySQL holds
 *            MySqlRow          what MySQL holds of one row
 * owners   OwnerSearch       owners by how their ids begin
 *            ColumnSearch      owners by a text in their rows, over an index alone
 *          OwnerDeletion     deletes all rows of an owner, in one guarded transaction
 * </pre>
 */
@org.jspecify.annotations.NullMarked
package io.gameq.writer.mysql;
