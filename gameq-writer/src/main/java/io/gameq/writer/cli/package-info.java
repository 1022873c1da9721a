/**
 * The commands over {@link io.gameq.writer.admin}: they read options, ask, and print records. Each
 * subcommand is a method.
 *
 * <pre>
 * AdminCommand    what all of them have in common; ResultReport: what became of dead letters
 * DeadCommand     dead letters of rows; ColumnOptions: the new values of an edit
 * TopicsCommand   topics, and their dead letters
 * StaleCommand    stale rows
 * OwnerCommands   export and erase of owners
 * PauseCommands   pause and resume
 * AuditCommand    what operators did
 * </pre>
 */
@org.jspecify.annotations.NullMarked
package io.gameq.writer.cli;
