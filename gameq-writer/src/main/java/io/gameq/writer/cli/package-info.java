/**
 * The commands over {@link io.gameq.writer.admin}: they read options, ask, and print records. Each
 * subcommand is a method.
 *
 * <pre>
 * DeadCommand     ColumnOptions: the new values of an edit
 * TopicsCommand   TopicCommand opens the topics
 * StaleCommand
 * AuditCommand    what operators did
 * AdminCommand    what all of them have in common
 * DoneReport      what became of dead letters, of rows and of topics
 * </pre>
 */
@org.jspecify.annotations.NullMarked
package io.gameq.writer.cli;
